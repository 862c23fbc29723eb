// A process of `tutti sweep` has one of three roles. If the argument is the file of a sweep, the
// process only prints a report. A single process without a launcher executes the sweep and writes
// the file. If a launcher has started several processes, rank 0 writes the file. Ranks other than
// rank 0 get points from rank 0, and return the outcomes of these points. All ranks must have the
// same version, scenario, settings and axes, which are the input of identity().
//
// The file makes sweeps resumable: the same command continues with the missing points. Outputs
// other than the sweep file are made from this file at the end, so the reports of a new and of an
// existing sweep have the same form. Points are evaluated in sim/sweep, shared among ranks in
// sweep_leader.cpp and sweep_helper.cpp, tabulated in sweep_output.cpp, and reported in
// sweep_results.cpp.

#include "tools/tutti/explore/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "core/base/file.h"
#include "core/base/format.h"
#include "core/base/version.h"
#include "core/explore/strategy_alternatives.h"
#include "core/explore/sweep_plot.h"
#include "core/explore/sweep_reuse.h"
#include "real/worker/run_limits.h"
#include "sim/simulator.h"
#include "sim/sweep/evaluator.h"
#include "sim/sweep/execute_points.h"
#include "tools/tutti/explore/explore.h"
#include "tools/tutti/explore/plot_file.h"
#include "tools/tutti/explore/sweep_claim.h"
#include "tools/tutti/explore/sweep_output.h"
#include "tools/tutti/explore/sweep_ranks.h"
#include "tools/tutti/explore/sweep_results.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/input_files.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::Outcome;
using core::ProblemCode;
using core::SweepStore;

Expected<void> check_names(const SweepOptions& options, const std::string& database) {
  return check_distinct({{"-o", database},
                         {"--csv", options.csv},
                         {"--json", options.json},
                         {"--plot", options.plot}});
}

/// Checks before a sweep that the files of its report can be written.
Expected<void> check_report_files(const SweepOptions& options) {
  return check_outputs(
      {{"--csv", options.csv}, {"--json", options.json}, {"--plot", options.plot, true}});
}

/// Removes the axis `strategy=NAMES`, which compares strategies, from `over`, and returns its
/// names; empty if there is no such axis.
Expected<std::vector<std::string>> take_strategies(std::vector<std::string>& over) {
  constexpr std::string_view kStrategies = "strategy=";
  std::vector<std::string> names;
  const auto compares = [&](const std::string& written) {
    return written.starts_with(kStrategies);
  };
  const auto found = std::find_if(over.begin(), over.end(), compares);
  if (found == over.end()) return names;
  if (std::any_of(found + 1, over.end(), compares))
    return refused({ProblemCode::kDuplicate, "--over"},
                   "--over strategy is given twice; list all strategies in one option, such as "
                   "--over strategy=nccl,ring");
  std::istringstream list(found->substr(kStrategies.size()));
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  if (names.empty())
    return refused({ProblemCode::kMissing, "--over"},
                   "--over strategy=: expected names of algorithms or frameworks, such as "
                   "strategy=nccl,ring,pscpu");
  over.erase(found);
  return names;
}

/// If a new sweep has very many points, asks the user on the terminal whether this is intended.
/// ERRORS: the user answers no; or the sweep is too large and there is no terminal on which to ask.
Expected<void> check_size(const std::vector<core::Axis>& axes, const std::string& output,
                          bool agreed) {
  const auto space = core::Space::of(axes);
  if (!space) return failed(space);
  std::error_code ignored;
  if (agreed || space->size() <= kMaxUnasked || std::filesystem::exists(output, ignored)) return {};
  const std::string size = core::show_count(space->size());
  if (capture() == nullptr && isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0) {
    std::fputs(fmt::format("This sweep simulates {} points. Continue? [y/N] ", size).c_str(),
               stderr);
    std::string answer;
    std::getline(std::cin, answer);
    if (answer == "y" || answer == "Y" || answer == "yes") return {};
    return refused({ProblemCode::kTooLarge, "--over"}, "the sweep was not started");
  }
  return refused({ProblemCode::kTooLarge, "--over"},
                 "this sweep has {} points; confirm this number with --yes, use fewer values, or "
                 "use tutti tune, which simulates only some of the points",
                 size);
}

/// Returns the default name of a scenario's sweep, NAME.sweep, or of a further sweep: NAME-2.sweep.
std::string numbered_output(const std::string& scenario, int number) {
  const std::string name = std::filesystem::path(scenario).stem().string();
  return number == 1 ? name + ".sweep" : fmt::format("{}-{}.sweep", name, number);
}

/// True if SweepStore::resume() failed because the file holds another sweep.
bool holds_another(const core::Error& error) {
  return error.problems().front().kind.code == ProblemCode::kConflict;
}

/// Returns the axes with which options are checked before the settings of the compared strategies
/// are known: an axis with the names of the strategies, and all other axes.
std::vector<core::Axis> provisional_axes(const std::vector<std::string>& strategies,
                                         const std::vector<core::Axis>& axes) {
  std::vector<core::Axis> all = axes;
  if (strategies.empty()) return all;
  core::Axis axis;
  axis.title = core::kStrategyTitle;
  axis.fields = {"strategy.algorithm"};
  axis.paths = {core::parse_override("--over", "strategy.algorithm=")->path};
  for (const std::string& name : strategies) axis.rows.push_back({name});
  all.insert(all.begin(), std::move(axis));
  return all;
}

/// Checks, before anything is simulated, that a plot of these axes is possible. With `provisional`,
/// `--x` and `--by` may name settings of strategies that are added to the axes later.
Expected<void> check_plot_options(const std::vector<core::Axis>& axes, const SweepOptions& options,
                                  bool provisional) {
  if (options.plot.empty()) return {};
  const auto space = core::Space::of(axes);
  if (!space) return failed(space);
  core::PlotOptions plot = plot_options(options);
  for (std::string* const name : {&plot.x, &plot.by}) {
    if (provisional && name->starts_with("strategy.")) name->clear();
  }
  return core::check(*space, plot);
}

/// Inserts an axis with the settings of the compared strategies in front of the other axes, and
/// prints notes about the settings. ERRORS: as for core::strategy_alternatives().
Expected<void> add_strategies(std::vector<core::Axis>& axes,
                              const std::vector<std::string>& strategies,
                              const core::BaseOfAlternatives& base, const core::Library& library,
                              bool quiet) {
  if (strategies.empty()) return {};
  std::vector<std::string> notes;
  {
    const Interrupt interrupt;
    Progress progress("trying settings");
    core::TrialControl control;
    control.stop = [&] { return interrupt.happened(); };
    control.progress = [&](double share) { progress.update(share); };
    auto made = core::strategy_alternatives("--over", strategies, base, library, axes, control);
    if (!made) return failed(made);
    notes = std::move(made->notes);
    axes.insert(axes.begin(), std::move(made->axis));
  }
  if (quiet) return {};
  for (const std::string& note : notes) print_note(fmt::format("note: {}\n", note));
  return {};
}

/// Returns a text that must be equal on all ranks of a sweep.
std::string identity(const core::SweepInfo& info) {
  std::string text = info.version + '\0' + info.scenario_text + '\0';
  for (const std::string& setting : info.set) text += setting + '\0';
  for (const core::Axis& axis : info.axes) {
    text += axis.title + '\0';
    for (const std::string& field : axis.fields) text += field + '\0';
    for (const auto& row : axis.rows) {
      for (const std::string& value : row) text += value + '\0';
    }
  }
  return text;
}

/// Returns the role of this process, if a launcher has started several processes. TF_CONFIG
/// describes a training job, not a sweep, so it is used only if the user requests it.
Expected<std::optional<PartInRun>> launched_part(const JoinOptions& options) {
  if (options.launcher == "auto" && !options.listen.empty() && std::getenv("TF_CONFIG") != nullptr)
    return refused({ProblemCode::kUnused, "--listen"},
                   "--listen applies only to processes of a launcher, such as mpirun; name the "
                   "launcher with --launcher");
  auto part = own_part(options);
  if (!part) return failed(part);
  const bool by_tf_config = part->launch && part->launch->launcher == real::LauncherKind::kTfConfig;
  if (part->launch && !(by_tf_config && options.launcher == "auto"))
    return std::optional(std::move(*part));
  if (!part->launch && !options.listen.empty())
    return refused({ProblemCode::kUnused, "--listen"},
                   "--listen applies only to processes of a launcher, such as mpirun, but no "
                   "launcher started this process");
  if (!part->launch && !options.tls.empty())
    return refused({ProblemCode::kUnused, "--tls"},
                   "--tls applies only to processes of a launcher, such as mpirun, but no launcher "
                   "started this process");
  return std::optional<PartInRun>();
}

/// Returns the number of threads per rank: the cores of one machine divided by its ranks. If there
/// are several machines, the number of ranks per machine is unknown, so the result is one thread
/// unless the user requests more.
int threads_of_rank(int requested, const real::Launch& launch) {
  if (requested > 0 || !launch.one_machine) return std::max(1, requested);
  return std::max(1, threads_of(0) / launch.size);
}

/// Executes points that rank 0 assigns; called on all ranks except rank 0. Returns the exit status.
int help(const PartInRun& part, const core::SweepInfo& info, const core::Library& library,
         const std::vector<core::Override>& set, int threads,
         std::chrono::duration<double> timeout) {
  const auto space = core::Space::of(info.axes);
  if (!space) return report(space.error());
  const Interrupt interrupt;
  sim::Simulator simulator;
  sim::Evaluator evaluator({info.scenario_text, info.scenario_file, set}, library, simulator);
  SharedSweep shared;
  shared.identity = identity(info);
  shared.threads = threads;
  shared.work = [&](std::int64_t point, const std::atomic<bool>& stop) {
    return evaluator.at(space->overrides(point), &stop);
  };
  shared.stop = [&] { return interrupt.happened(); };
  shared.points = space->size();
  shared.timeout = timeout;
  const auto done = help_sweep(part, shared);
  if (!done) return report(done.error());
  return *done ? kDone : kRunFailed;
}

/// Executes the points that are not complete. If `part` is given, several ranks share the work.
/// Returns true if all points are complete.
Expected<bool> execute_points(SweepStore& store, const core::Library& library,
                              const std::vector<core::Override>& set, int threads,
                              const Interrupt& interrupt, std::optional<PartInRun>& part,
                              std::chrono::duration<double> timeout) {
  Progress progress("sweeping");
  sim::SweepControl course;
  course.threads = threads;
  course.stop = [&] { return interrupt.happened(); };
  course.waiting = print_waiting;
  course.progress = [&](std::int64_t there, std::int64_t in_all, std::int64_t before) {
    if (there > before)
      progress.update(static_cast<double>(there - before) / static_cast<double>(in_all - before));
    else if (before > 0 && before < in_all)
      print_note(fmt::format("{} of {} points are already in the file\n", before, in_all));
  };
  if (part) {
    course.pool = [&](const sim::PoolWork& pool) {
      const SharedSweep shared{identity(store.info()), threads, pool.work, pool.stop,
                               store.space().size(),   timeout};
      return lead_sweep(*part, shared, pool.points, pool.take);
    };
  }
  sim::Simulator simulator;
  return sim::execute_points(store, library, set, simulator, course);
}

/// Checks the options that both a new sweep and a stored sweep accept, and returns the format.
Expected<Format> check_options(const SweepOptions& options) {
  auto format = format_of(options.format);
  if (!format) return failed(format);
  if (options.rows < 0)
    return refused({ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  if (options.threads < 0)
    return refused({ProblemCode::kTooSmall, "--threads"},
                   "--threads must be at least 0 (0: all cores)");
  if (options.timeout_seconds &&
      !(*options.timeout_seconds > 0 && *options.timeout_seconds <= real::kMaxTimeoutSeconds))
    return refused(
        out_of_range("--timeout-seconds", *options.timeout_seconds, real::kMaxTimeoutSeconds),
        "--timeout-seconds must be above 0 and at most {}", real::kMaxTimeoutSeconds);
  if (const auto name = check_plot(options.plot); !name) return failed(name);
  for (const auto& [option, value] : {std::pair("--measured", &options.measured),
                                      {"--cost", &options.cost},
                                      {"--x", &options.x},
                                      {"--by", &options.by}}) {
    if (!value->empty() && options.plot.empty())
      return refused({ProblemCode::kUnused, option}, "{} applies to a plot; give --plot FILE",
                     option);
  }
  return format;
}

/// Reports the results of a stored sweep, without simulating anything. Returns the exit status.
int report_stored(const SweepOptions& options, Format format) {
  const std::string& file = options.scenario.file;
  const char* const given = !options.over.empty()                  ? "--over"
                            : !options.points.empty()              ? "--points"
                            : !options.scenario.set.empty()        ? "--set"
                            : !options.output.empty()              ? "-o"
                            : !options.reuse.empty()               ? "--reuse"
                            : options.timeout_seconds              ? "--timeout-seconds"
                            : !options.scenario.settings().empty() ? "--calibration"
                                                                   : nullptr;
  if (given)
    return refuse(
        {ProblemCode::kConflict, given},
        "{} is an existing sweep; --over, --points, --set, --calibration, -o, --reuse and "
        "--timeout-seconds apply only to new sweeps",
        file);
  if (const auto other = check_names(options, file); !other) return report(other.error());
  if (const auto possible = check_report_files(options); !possible) return report(possible.error());
  auto store = SweepStore::open(file);
  if (!store) return report(store.error());
  return report_results(*store, options, format, {file});
}

/// A sweep that the user requests, before the settings of the compared strategies are known.
struct NewSweep {
  core::SweepInfo info;                 ///< without axes
  std::vector<core::Axis> axes;         ///< the axes that the options state
  std::vector<std::string> strategies;  ///< strategies that --over compares; they form an axis of
                                        ///< their own (add_strategies())
  std::vector<core::Override> set;      ///< the fields that --set changes at all points
  std::optional<PartInRun> part;        ///< the role of this process; nullopt: no launcher
  int threads = 1;                      ///< threads of this process
  std::chrono::duration<double> timeout;

  [[nodiscard]] core::BaseOfAlternatives base() const {
    return {info.scenario_text, info.scenario_file, set};
  }
};

Expected<NewSweep> read_request(const SweepOptions& options) {
  const auto text = read_scenario_file(options.scenario.file);
  if (!text) return failed(text);
  std::vector<std::string> over = options.over;
  auto strategies = take_strategies(over);
  if (!strategies) return failed(strategies);
  auto axes = axes_of(options.points, over);
  if (!axes) return failed(axes);
  if (!strategies->empty()) {
    if (const auto good = core::check_others("--over", *axes); !good) return failed(good);
  }
  if (axes->empty() && strategies->empty()) {
    return refused({ProblemCode::kMissing, "--over"},
                   "no field varies; give one with --over FIELD=VALUES, such as --over "
                   "strategy.bytes_per_pack=64KiB..256MiB*2");
  }
  auto set = settings_of(options.scenario.settings());
  if (!set) return failed(set);
  warn_of_old_form(*text, options.scenario.file);
  auto part = launched_part(options.join);
  if (!part) return failed(part);
  if (!*part && options.timeout_seconds) {
    return refused({ProblemCode::kUnused, "--timeout-seconds"},
                   "--timeout-seconds applies only to processes of a launcher, such as mpirun, but "
                   "no launcher started this process");
  }
  NewSweep request;
  request.info.version = core::version();
  request.info.scenario_file = options.scenario.file;
  request.info.scenario_text = *text;
  request.info.set = options.scenario.settings();
  request.axes = std::move(*axes);
  request.strategies = std::move(*strategies);
  request.set = std::move(*set);
  request.threads =
      *part ? threads_of_rank(options.threads, *(*part)->launch) : threads_of(options.threads);
  request.timeout = std::chrono::duration<double>(options.timeout_seconds.value_or(60));
  request.part = std::move(*part);
  return request;
}

/// Returns the file in which a new sweep stores its results. ERRORS: the file is the scenario, or
/// another output of the command.
Expected<std::string> output_of(const SweepOptions& options) {
  std::string output =
      options.output.empty() ? numbered_output(options.scenario.file, 1) : options.output;
  if (const auto file = check_not_stdout(output); !file)
    return tl::make_unexpected(about("-o", file.error()));
  std::error_code ignored;
  if (std::filesystem::equivalent(output, options.scenario.file, ignored))
    return refused({ProblemCode::kConflict, "-o"}, "-o {}: this is the scenario; name another file",
                   output);
  if (is_input_file(output))
    return refused({ProblemCode::kConflict, "-o"},
                   "-o {}: this is an input file of the command; name another file", output);
  if (const auto other = check_names(options, output); !other) return failed(other);
  if (const auto possible = check_report_files(options); !possible) return failed(possible);
  return output;
}

/// Determines all axes of the sweep. The settings of the compared strategies take time to find, so
/// the rest of the request is checked first.
Expected<void> complete_axes(NewSweep& request, const SweepOptions& options,
                             const std::string& output, const core::Library& library) {
  const std::vector<core::Axis> provisional = provisional_axes(request.strategies, request.axes);
  if (const auto possible = check_plot_options(provisional, options, !request.strategies.empty());
      !possible)
    return failed(possible);
  if (const auto agreed = check_size(provisional, output, options.yes); !agreed)
    return failed(agreed);
  if (const auto added =
          add_strategies(request.axes, request.strategies, request.base(), library, false);
      !added)
    return failed(added);
  request.info.axes = std::move(request.axes);
  return check_plot_options(request.info.axes, options, false);
}

/// Copies the results that an earlier sweep has. ERRORS: as for core::copy_results(); a file that
/// the scenario names has changed.
Expected<void> reuse(SweepStore& store, const std::string& file, const core::Library& library) {
  auto earlier = SweepStore::open(file);
  if (!earlier) return failed(earlier);
  if (const auto same = sim::check_files(*earlier, library); !same) return failed(same);
  const auto copied = core::copy_results(store, *earlier, file);
  if (!copied) return failed(copied);
  print_note(
      fmt::format("{} of {} points are copied from {}\n", *copied, store.space().size(), file));
  return {};
}

/// Executes the points of the request that the file does not contain yet, and reports all results.
/// Returns the exit status.
int execute(NewSweep& request, const SweepOptions& options, std::string output,
            const core::Library& library, Format format) {
  const Interrupt interrupt;
  auto store = SweepStore::resume(output, request.info);
  // If the user named no file, and the file of the default name holds another sweep, continue with
  // the next name.
  for (int number = 2; options.output.empty() && !store && holds_another(store.error()); ++number) {
    output = numbered_output(options.scenario.file, number);
    if (const auto agreed = check_size(request.info.axes, output, options.yes); !agreed)
      return report(agreed.error());
    store = SweepStore::resume(output, request.info);
  }
  if (!store) return report(store.error());
  const SweepClaim claim(output);
  if (claim.held_by() != 0) {
    return refuse({ProblemCode::kConflict, "-o"},
                  "{}: {} is executing this sweep; wait until that process ends, or end that "
                  "process and repeat this command, which then continues from the completed points",
                  output,
                  claim.held_by() == SweepClaim::kUnknown
                      ? "another process"
                      : fmt::format("process {}", claim.held_by()));
  }
  if (!options.reuse.empty()) {
    if (const auto copied = reuse(*store, options.reuse, library); !copied)
      return report(copied.error());
  }
  const auto all = execute_points(*store, library, request.set, request.threads, interrupt,
                                  request.part, request.timeout);
  if (!all) return report(all.error());
  if (!*all) {
    return report(core::Error::run(
        {ProblemCode::kStopped},
        fmt::format("interrupted; completed points are in {}, and the same command continues from "
                    "there",
                    output)));
  }
  print_note(fmt::format("results: {}\n", output));
  return report_results(*store, options, format, {options.scenario.file, output});
}

}  // namespace

int sweep(const SweepOptions& options, const Environment& environment) {
  const auto format = check_options(options);
  if (!format) return report(format.error());
  if (core::is_database(options.scenario.file)) return report_stored(options, *format);

  auto request = read_request(options);
  if (!request) return report(request.error());
  if (request->part && !request->part->coordinates) {
    const auto added = add_strategies(request->axes, request->strategies, request->base(),
                                      environment.library, true);
    if (!added) return report(added.error());
    request->info.axes = std::move(request->axes);
    return help(*request->part, request->info, environment.library, request->set, request->threads,
                request->timeout);
  }
  const auto output = output_of(options);
  if (!output) return report(output.error());
  if (const auto complete = complete_axes(*request, options, *output, environment.library);
      !complete)
    return report(complete.error());
  return execute(*request, options, *output, environment.library, *format);
}

}  // namespace tutti::tools
