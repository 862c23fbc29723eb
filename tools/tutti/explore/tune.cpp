#include "tools/tutti/explore/tune.h"

#include <algorithm>
#include <ostream>

#include "core/advice/nccl_tuner_table.h"
#include "core/base/version.h"
#include "core/explore/default_axes.h"
#include "core/explore/plot.h"
#include "core/explore/seed_groups.h"
#include "core/explore/tuner.h"
#include "core/strategy/algorithm_table.h"
#include "core/text/csv.h"
#include "tools/tutti/explore/explore.h"
#include "tools/tutti/explore/plot_file.h"
#include "tools/tutti/explore/tuning.h"
#include "tools/tutti/io/input_files.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/terminal.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Outcome;
using core::ProblemCode;

bool emits_table(const TuneOptions& options) { return options.emit == "nccl-tuner"; }

/// Returns a plot of the step times around the best setting, along the first axis that has ordered
/// values.
core::Plot curve_plot(const TuneResult& result) {
  const AxisCurve& curve = result.curves.front();
  core::Plot plot;
  plot.title = result.now.summary.info().scenario + ", around the best settings";
  plot.x_title = curve.field;
  plot.y_title = "step time (ms)";
  plot.bytes = curve.field.find("bytes") != std::string::npos;
  core::Curve line{"step time", {}}, bound{"lower bound", {}, true}, now{"now", {}, true};
  for (const auto& [value, outcome] : curve.values) {
    plot.x.push_back(value);
    const bool done = outcome.status == Outcome::Status::kDone;
    line.y.push_back(done ? std::optional(core::to_ms(outcome.step)) : std::nullopt);
    bound.y.push_back(done && outcome.step_bound > core::Time()
                          ? std::optional(core::to_ms(outcome.step_bound))
                          : std::nullopt);
    now.y.emplace_back(core::to_ms(result.now.outcome.step));
  }
  plot.curves = {line, now, bound};
  plot.best = core::Plot::Mark{0, curve.best, "best"};
  return plot;
}

/// Writes all evaluated points to the CSV file, in the order of the search space.
void write_tried(Tuning& tuning, std::ostream& out) {
  for (const std::string& field : tuning.space().fields()) out << core::csv_cell(field) << ',';
  out << "status,stopped_early,compared,step_time_us\r\n";
  for (const auto& [point, outcome] : tuning.tried()) {
    for (const std::string& value : tuning.space().values(point))
      out << core::csv_cell(value) << ',';
    const bool done = outcome.status == Outcome::Status::kDone;
    out << to_string(outcome.status) << ',' << (outcome.stopped ? 1 : 0) << ','
        << (tuning.is_compared(point) ? 1 : 0) << ','
        << (done ? fmt::format("{:.6f}", core::to_us(outcome.step)) : "") << "\r\n";
  }
}

/// Writes the table for NCCL's tuner.
core::Expected<void> write_nccl_table(const TuneOptions& options, const core::Scenario& recommended,
                                      const core::Library& library, TuneResult& result) {
  const auto fail = [](const std::string& why) {
    return tl::make_unexpected(
        Error::run({ProblemCode::kUnsupported, "--emit"}, "--emit nccl-tuner: " + why));
  };
  if (core::traits(recommended.strategy.algorithm).nccl != core::NcclPart::kAll ||
      recommended.plan.packs.empty())
    return fail(
        fmt::format("NCCL executes no complete collective of the recommended strategy ({}), so "
                    "NCCL's tuner makes no choices",
                    core::describe(recommended.strategy)));
  const auto table =
      core::nccl_tuner_table(recommended, library, core::tuner_table::Reader::kTutti);
  if (!table) return fail(table.error());
  if (const auto written = write_file(options.output, {options.scenario.file},
                                      core::tuner_table::write_table(table->table));
      !written)
    return written;
  result.table = options.output;
  result.notes.push_back(fmt::format("{}: {}", options.output, table->remark));
  return {};
}

/// Takes the axis of run.seed out of the axes, and returns its values as overrides; empty if the
/// seed does not vary. ERRORS (requests): run.seed varies together with other fields.
core::Expected<std::vector<core::Override>> take_seeds(std::vector<core::Axis>& axes) {
  std::vector<core::Override> seeds;
  for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
    const auto& fields = axis->fields;
    if (std::find(fields.begin(), fields.end(), core::kSeedField) == fields.end()) continue;
    if (axis->rows.size() < 2) return seeds;
    if (fields.size() > 1)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kUnsupported, "--points"},
          "--points: run.seed cannot vary together with other fields, because tutti tune "
          "simulates every setting with every seed; use --over run.seed=1..10+1"));
    for (const auto& row : axis->rows) {
      auto seed = core::overrides_of(axis->fields, axis->paths, row);
      seeds.push_back(std::move(seed.front()));
    }
    axes.erase(axis);
    break;
  }
  return seeds;
}

/// Checks the options before any file is read, and returns the format.
core::Expected<Format> check_options(const TuneOptions& options) {
  auto format = format_of(options.format);
  if (!format) return failed(format);
  if (options.evaluations < 1)
    return refused({ProblemCode::kTooSmall, "--evaluations"}, "--evaluations must be at least 1");
  if (options.threads < 0)
    return refused({ProblemCode::kTooSmall, "--threads"},
                   "--threads must be at least 0 (0: all cores)");
  if (options.emit != "scenario" && options.emit != "nccl-tuner")
    return refused({ProblemCode::kUnknownName, "--emit"},
                   "--emit {}: expected scenario or nccl-tuner", options.emit);
  if (emits_table(options) && options.output.empty())
    return refused({ProblemCode::kMissing, "--output"},
                   "--emit nccl-tuner needs -o FILE, the table to write");
  if (const auto distinct = check_distinct({{"-o", options.output},
                                            {"--csv", options.csv},
                                            {"--plot", options.plot},
                                            {"--database", options.database}});
      !distinct)
    return failed(distinct);
  if (const auto name = check_plot(options.plot); !name) return failed(name);
  return format;
}

/// A request to tune: a scenario, and the space of the settings to try.
struct Request {
  std::string text;                 ///< the text of the scenario
  std::vector<core::Override> set;  ///< the fields that --set changes in all settings
  core::Scenario scenario;
  core::SweepInfo info;
  core::Space space;
  std::vector<core::Override> seeds;  ///< the seeds of every setting; empty: that of the scenario
  std::vector<std::string> notes;
  std::optional<sim::MostWork> max_work;  ///< limit on the work of one simulation. nullopt: the
                                          ///< user stated the fields to vary, and so accepted the
                                          ///< time
};

core::Expected<Request> read_request(const TuneOptions& options, const core::Library& library) {
  auto set = settings_of(options.scenario.settings());
  if (!set) return failed(set);
  const auto text = read_scenario_file(options.scenario.file);
  if (!text) return failed(text);
  warn_of_old_form(*text, options.scenario.file);
  auto scenario = core::read_scenario(*text, options.scenario.file, library, *set);
  if (!scenario) return failed(scenario);
  auto axes = axes_of(options.points, options.over);
  if (!axes) return failed(axes);
  auto seeds = take_seeds(*axes);
  if (!seeds) return failed(seeds);
  if (!seeds->empty() && !options.database.empty())
    return refused({ProblemCode::kUnsupported, "--database"},
                   "--database stores one result per setting, so it cannot be combined with "
                   "several seeds; tutti sweep --over run.seed=… stores the results of all seeds");
  std::vector<std::string> notes;
  std::optional<sim::MostWork> max_work;
  if (axes->empty()) {
    axes = core::default_axes(*scenario);
    if (!axes) return failed(axes);
    max_work = sim::max_work(*scenario);
    notes = sim::note_on_left_out(
        sim::leave_out_long_ones(*axes, {*text, options.scenario.file, *set}, library, *max_work));
  }
  core::SweepInfo info{std::string(core::version()), options.scenario.file, *text,
                       options.scenario.settings(), *axes};
  auto space = core::Space::of(std::move(*axes));
  if (!space) return failed(space);
  if (!options.plot.empty()) {
    const core::Tuner tuner(*space, {});
    bool any = false;
    for (std::size_t a = 0; a < space->axes().size(); ++a) any = any || tuner.is_ordered(a);
    if (!any)
      return refused({ProblemCode::kUnused, "--plot"},
                     "--plot: there is no curve to draw, because no field has ordered values");
  }
  return Request{*text,
                 std::move(*set),
                 std::move(*scenario),
                 std::move(info),
                 std::move(*space),
                 std::move(*seeds),
                 std::move(notes),
                 std::move(max_work)};
}

/// Writes the recommended scenario, or the table for NCCL's tuner, to the file of -o.
core::Expected<void> write_recommended(const TuneOptions& options, const core::Library& library,
                                       TuneResult& result) {
  if (emits_table(options)) {
    if (!result.is_advice())
      return tl::make_unexpected(Error::run(
          "--emit nccl-tuner: no valid settings were found, so there is no table to write"));
    return write_nccl_table(options, result.recommended().scenario, library, result);
  }
  if (options.output.empty() || !result.best) return {};
  if (result.best->outcome.step > result.now.outcome.step) {
    print_note(fmt::format("tutti: {} was not written, because no better settings were found\n",
                           options.output));
    return {};
  }
  return write_file(options.output, {options.scenario.file}, result.best_text);
}

/// Writes all files that the options name.
core::Expected<void> write_files(const TuneOptions& options, const core::Library& library,
                                 Tuning& tuning, TuneResult& result) {
  const std::vector<std::string> inputs{options.scenario.file};
  if (!options.csv.empty()) {
    if (auto written =
            write_file(options.csv, inputs, [&](std::ostream& out) { write_tried(tuning, out); });
        !written)
      return written;
  }
  if (auto written = write_recommended(options, library, result); !written) return written;
  if (options.plot.empty()) return {};
  if (result.curves.empty())
    return tl::make_unexpected(
        Error::run("--plot: there is nothing to draw, because no best settings were found"));
  return write_plot(options.plot, inputs, core::to_svg(curve_plot(result)));
}

}  // namespace

int tune(const TuneOptions& options, const Environment& environment) {
  const auto format = check_options(options);
  if (!format) return report(format.error());
  auto request = read_request(options, environment.library);
  if (!request) return report(request.error());
  add_inputs_of(request->scenario);
  if (const auto possible = check_outputs(
          {{"-o", options.output}, {"--csv", options.csv}, {"--plot", options.plot, true}});
      !possible)
    return report(possible.error());
  if (const auto file = check_not_stdout(options.database); !file)
    return report(about("--database", file.error()));
  if (is_input_file(options.database))
    return refuse({ProblemCode::kConflict, "--database"},
                  "--database {}: this is an input file of the command; name another file",
                  options.database);
  const Interrupt interrupt;  // installed before a file exists
  std::optional<core::SweepStore> store;
  if (!options.database.empty()) {
    auto opened = core::SweepStore::resume(options.database, request->info);
    if (!opened) return report(opened.error());
    store = std::move(*opened);
  }

  Tuning tuning(options, environment.library, std::move(request->scenario), request->text,
                request->set, std::move(request->space), store ? &*store : nullptr,
                std::move(request->notes), interrupt);
  if (request->max_work) tuning.limit_work(*request->max_work);
  tuning.over_seeds(std::move(request->seeds));
  const auto done = tuning.execute_points();
  if (!done) return report(done.error());
  if (!*done) {
    return report(Error::run(
        {ProblemCode::kStopped},
        options.database.empty()
            ? std::string("interrupted; --database FILE keeps the completed points")
            : fmt::format("interrupted; completed points are in {}, and the same command "
                          "continues from there",
                          options.database)));
  }
  TuneResult result = tuning.take_result();
  if (result.is_advice()) result.promise = core::promise_of(result.recommended().scenario);
  // The result of a long search is printed even if a file cannot be written.
  const auto written = write_files(options, environment.library, tuning, result);
  const int printed =
      *format == Format::kJson ? print_out(tune_json(result)) : print_report(tune_text(result));
  if (written) return printed;
  report(written.error());
  return kRunFailed;
}

}  // namespace tutti::tools
