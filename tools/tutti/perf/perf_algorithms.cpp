// Compares algorithms by simulations or real runs. Every cell of the table is an ordinary
// simulation or run: the user's scenario with overrides for the algorithm, rewritten to reduce a
// single buffer of the given size. Sizes are rounded so that all ranks get equal blocks. Sizes that
// are equal after rounding are executed once. The size at which another algorithm becomes the
// fastest is interpolated linearly between two sizes of the table. The lower bound is computed for
// the first algorithm's scenario. The bound holds for the scenario's links. Real runs use the links
// of other machines, so their tables have no bound. After an interrupt, the complete rows are
// printed.

#include "tools/tutti/perf/perf_algorithms.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/advice/extrapolation.h"
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/custom/custom_algorithm.h"
#include "core/lowering/reduction_scope.h"
#include "core/scenario/scenario.h"
#include "core/strategy/collective_bound.h"
#include "core/strategy/strategy.h"
#include "sim/simulator.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/collective_timing.h"
#include "tools/tutti/perf/perf_table.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::ProblemCode;
using core::Report;
using core::Time;

struct Row {
  std::int64_t bytes = 0;
  std::optional<core::Bound> bound;  ///< only for simulated times
  std::vector<Time> times;           ///< by algorithm
  [[nodiscard]] std::size_t fastest() const {
    return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  }
};

/// Two consecutive sizes between which the fastest algorithm changes.
struct Crossing {
  std::size_t before = 0;
  std::size_t after = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t about = 0;  ///< the size in bytes from which algorithm `after` is faster than
                           ///< algorithm `before`, by linear interpolation
};

struct Comparison {
  std::vector<std::string> names;
  std::vector<core::Scenario> scenarios;
  std::vector<Row> rows;
  std::vector<std::string> notes;
};

/// Returns the size in bytes at which two algorithms are equally fast, by linear interpolation of
/// their times between two sizes.
std::int64_t meeting(const Row& a, const Row& b, std::size_t one, std::size_t other) {
  const double before = core::to_us(a.times[other]) - core::to_us(a.times[one]);
  const double after = core::to_us(b.times[one]) - core::to_us(b.times[other]);
  const double share = before + after > 0 ? before / (before + after) : 0;
  return a.bytes + static_cast<std::int64_t>(share * static_cast<double>(b.bytes - a.bytes));
}

std::vector<Crossing> crossings(const std::vector<Row>& rows) {
  std::vector<Crossing> all;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::size_t before = rows[i - 1].fastest();
    const std::size_t after = rows[i].fastest();
    // Do not report a change if the previous algorithm is equally fast.
    if (rows[i].times[before] == rows[i].times[after]) continue;
    if (before == after) continue;
    all.push_back({before, after, rows[i - 1].bytes, rows[i].bytes,
                   meeting(rows[i - 1], rows[i], before, after)});
  }
  return all;
}

std::string size_text(std::int64_t bytes) {
  for (const auto& [unit, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}) {
    const double in_unit = static_cast<double>(bytes) / static_cast<double>(1LL << shift);
    if (in_unit >= 1) return fmt::format("{:.3g} {}", in_unit, unit);
  }
  return fmt::format("{} B", bytes);
}

/// An algorithm of --algorithms: a name or a file, followed by the values of its parameters, such
/// as "mine.tutti-algorithm:slices=8:channels=2".
struct NamedAlgorithm {
  explicit NamedAlgorithm(const std::string& written) {
    std::size_t end = next_parameter(written, 0);
    name = written.substr(0, end);
    while (end != std::string::npos) {
      const std::size_t begin = end + 1;
      end = next_parameter(written, begin);
      parameters.push_back(written.substr(begin, end - begin));
    }
  }

  [[nodiscard]] bool built_in() const {
    const auto& all = core::algorithms();
    return std::any_of(all.begin(), all.end(),
                       [&](core::AlgorithmChoice known) { return to_string(known) == name; });
  }

  /// Returns the overrides that make a scenario use the algorithm. A file is first searched in the
  /// working directory, then in the scenario's folder, then among shipped algorithms. The
  /// scenario's parameters belong to the scenario's own algorithm file, so an algorithm of
  /// --algorithms has only the parameters that are written after its name.
  [[nodiscard]] std::vector<std::string> settings() const {
    if (built_in()) return {"strategy.custom=", "strategy.algorithm=" + name};
    std::error_code status;
    const bool here = std::filesystem::is_regular_file(name, status);
    const std::string path = here ? std::filesystem::absolute(name, status).string() : name;
    std::vector<std::string> all{
        "strategy.algorithm=", "strategy.custom=", "strategy.custom.file=" + path};
    for (std::size_t i = 0; i < parameters.size(); ++i)
      all.push_back(fmt::format("strategy.custom.set[{}]={}", i, parameters[i]));
    return all;
  }

  std::string name;
  std::vector<std::string> parameters;

 private:
  /// Returns the position of the next ':' that precedes a parameter's name and '='; npos if there
  /// is none.
  static std::size_t next_parameter(const std::string& text, std::size_t from) {
    const auto in_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    for (std::size_t at = text.find(':', from); at != std::string::npos;
         at = text.find(':', at + 1)) {
      std::size_t end = at + 1;
      while (end < text.size() && in_name(text[end])) ++end;
      if (end > at + 1 && end < text.size() && text[end] == '=') return at;
    }
    return std::string::npos;
  }
};

/// Converts errors of a scenario that --algorithms has changed to errors about the algorithm's
/// name.
Error as_written(const Error& error, const std::string& name,
                 const std::vector<std::string>& settings) {
  std::vector<core::Problem> problems = error.problems();
  for (core::Problem& problem : problems) {
    for (const std::string& setting : settings) {
      const std::string prefix = fmt::format("--set {}: ", setting);
      if (problem.text.starts_with(prefix))
        problem.text =
            fmt::format("--algorithms: \"{}\": {}", name, problem.text.substr(prefix.size()));
    }
  }
  return {error.kind(), std::move(problems)};
}

class ComparingAlgorithms {
 public:
  ComparingAlgorithms(const PerfAlgorithmsRequest& request, const Environment& environment,
                      real::TcpExecutor* processes)
      : request_(request), environment_(environment), processes_(processes) {}

  Expected<Comparison> run() {
    if (auto read = read_scenarios(); !read) return failed(read);
    const core::CollectiveKind kind = request_.what.collective;
    const std::int64_t ranks = made_.scenarios.front().cluster->replicas();
    std::vector<std::int64_t> sizes;
    for (const std::int64_t requested : request_.sizes) {
      const std::int64_t elements = rounded_elements(kind, ranks, requested, request_.what.type);
      if (elements > 0 && (sizes.empty() || elements > sizes.back())) sizes.push_back(elements);
    }
    if (sizes.empty())
      return refused({ProblemCode::kTooSmall, "-e"},
                     "-e: {} between {} ranks needs at least {} bytes, 16 per rank",
                     to_string(kind), ranks, 16 * ranks);
    runs_ = sizes.size() * made_.scenarios.size();
    for (const std::int64_t elements : sizes) {
      Row row;
      row.bytes = elements * core::size_of(request_.what.type).count();
      for (std::size_t i = 0; i < made_.scenarios.size(); ++i) {
        auto time = time_of(i, elements);
        if (!time) return failed(time);
        if (!*time) return std::move(made_);  // interrupted: return the rows so far
        row.times.push_back(**time);
        progress_.update(static_cast<double>(done_) / static_cast<double>(runs_));
      }
      if (processes_ == nullptr) row.bound = bound_of(row.bytes);
      made_.rows.push_back(std::move(row));
    }
    progress_.clear();
    return std::move(made_);
  }

  [[nodiscard]] bool interrupted() const { return interrupt_.happened(); }

 private:
  Expected<void> read_scenarios() {
    std::set<std::string> known;
    for (const std::string& name : request_.algorithms) {
      if (!known.insert(name).second)
        return refused({ProblemCode::kDuplicate, "--algorithms"},
                       "--algorithms: \"{}\" is given twice", name);
      const NamedAlgorithm algorithm(name);
      if (algorithm.built_in() && !algorithm.parameters.empty())
        return refused({ProblemCode::kUnused, "--algorithms"},
                       "--algorithms: \"{}\": the built-in algorithm {} has no parameters{}", name,
                       algorithm.name, hint_of_shipped(algorithm));
      ScenarioOptions one = request_.scenario;
      const std::vector<std::string> settings = algorithm.settings();
      one.set.insert(one.set.end(), settings.begin(), settings.end());
      auto scenario = load_scenario(one, environment_);
      if (!scenario) return tl::make_unexpected(as_written(scenario.error(), name, settings));
      const core::ReductionScope who = core::reduction_scope(scenario->strategy, scenario->plan);
      if (core::on_servers(who) || who == core::ReductionScope::kNoReduction)
        return refused({ProblemCode::kUnsupported, "--algorithms"},
                       "--algorithms: {} is not a collective of all replicas", name);
      if (const auto& custom = scenario->strategy.custom;
          custom && !executes(*custom->text, request_.what.collective))
        return refused(
            {ProblemCode::kConflict, "--algorithms"},
            "--algorithms: \"{}\" describes {}, but the compared collective is {} (--collective)",
            custom->file, to_string(custom->text->kind()), to_string(request_.what.collective));
      if (const std::string note = core::note_on_launches(*scenario);
          processes_ == nullptr && !note.empty())
        made_.notes.push_back(note);
      made_.names.push_back(name);
      made_.scenarios.push_back(std::move(*scenario));
    }
    return {};
  }

  /// If a shipped file has the same name as the built-in algorithm, returns a hint.
  [[nodiscard]] std::string hint_of_shipped(const NamedAlgorithm& algorithm) const {
    const auto path = environment_.library.find(core::Library::Kind::kAlgorithm, algorithm.name,
                                                request_.scenario.file);
    if (!path) return "";
    return fmt::format("; to select the shipped file of this name, give its path: {}:{}", *path,
                       fmt::join(algorithm.parameters, ":"));
  }

  /// Returns the bound, which is the same for all columns. If one of the algorithms reduces in the
  /// network, fewer bytes have to move, so the bound is lower.
  [[nodiscard]] core::Bound bound_of(std::int64_t bytes) const {
    const core::Scenario& first = made_.scenarios.front();
    const bool network_adds = std::any_of(
        made_.scenarios.begin(), made_.scenarios.end(),
        [](const core::Scenario& scenario) { return core::network_adds(scenario.plan); });
    return core::collective_bound(*first.cluster, request_.what.collective, request_.what.root,
                                  core::Bytes(bytes), first.run.network_model, network_adds);
  }

  /// Returns the algorithm's time; nullopt if the run was interrupted.
  Expected<std::optional<Time>> time_of(std::size_t algorithm, std::int64_t elements) {
    const core::Scenario& from = made_.scenarios[algorithm];
    core::OneBuffer what = request_.what;
    what.elements = elements;
    const auto scenario = core::read_scenario(core::with_one_buffer(from.text, from.file, what),
                                              from.file, environment_.library);
    if (!scenario) return tl::make_unexpected(core::without_lines(scenario.error()));
    TUTTI_CHECK(scenario->strategy.collective == what.collective, "{} instead of {}",
                to_string(scenario->strategy.collective), to_string(what.collective));
    CollectiveTiming timing;
    core::RunControl control;
    control.cancel = &interrupt_.flag();
    const auto ran = execute(*scenario, control, timing);
    if (!ran) return failed(ran);
    if (interrupt_.happened()) return std::optional<Time>();
    for (const std::string& note : timing.notes) {
      if (notes_seen_.insert(note).second)
        made_.notes.push_back(made_.names[algorithm] + ": " + note);
    }
    if (processes_ == nullptr) return timing.whole();
    const auto us = timing.us();
    if (!us) return std::optional<Time>();
    return std::optional(core::time_from_us(*us / request_.iterations));
  }

  Expected<void> execute(const core::Scenario& scenario, const core::RunControl& control,
                         CollectiveTiming& timing) {
    ++done_;
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    if (processes_ == nullptr) return simulator_.run(scenario, record, control, timing);
    record.level = core::RecordLevel::kPacks;  // records the time of each rank
    record.last_worker = scenario.cluster->workers() - 1;
    processes_->expect_another(done_ < runs_);
    return processes_->run(scenario, record, control, timing);
  }

  const PerfAlgorithmsRequest& request_;
  const Environment& environment_;
  Comparison made_;
  std::set<std::string> notes_seen_;
  sim::Simulator simulator_;
  real::TcpExecutor* processes_;
  std::size_t runs_ = 0;
  std::size_t done_ = 0;  ///< number of runs that were begun
  Interrupt interrupt_;
  Progress progress_{processes_ == nullptr ? "simulating" : "measuring"};
};

/// Describes how the times were obtained.
std::string how(const PerfAlgorithmsRequest& request) {
  if (request.backend == "sim") return "simulated";
  const std::string medium = request.transport == "shm" ? "shared memory" : "tcp";
  return request.backend == "tcp" ? fmt::format("run over {}", medium)
                                  : fmt::format("run by {} over {}", request.backend, medium);
}

std::string text_of(const Comparison& made, const PerfAlgorithmsRequest& request) {
  std::string text =
      fmt::format("{} on {}, {}, {}\n", to_string(request.what.collective),
                  describe(*made.scenarios.front().cluster),
                  request.what.out_of_place ? "out of place" : "in place", how(request));
  const bool bounded = request.backend == "sim";
  std::vector<std::string> headings{"!size (B)"};
  if (bounded) headings.emplace_back("lower bound");
  headings.insert(headings.end(), made.names.begin(), made.names.end());
  headings.emplace_back("<!fastest");
  if (bounded) headings.emplace_back("!of bound");
  Table table(headings);
  for (const Row& row : made.rows) {
    std::vector<std::string> cells{std::to_string(row.bytes)};
    if (row.bound) cells.push_back(core::show(row.bound->time));
    for (const Time time : row.times) cells.push_back(core::show(time));
    const Time best = row.times[row.fastest()];
    cells.push_back(made.names[row.fastest()]);
    if (row.bound)
      cells.push_back(best > Time() ? core::show_share(share(row.bound->time, best)) : "–");
    table.row(cells);
  }
  text += table.text(2);
  const std::vector<Crossing> all = crossings(made.rows);
  for (const Crossing& one : all)
    text += fmt::format("{} becomes faster than {} at about {} (between {} and {})\n",
                        made.names[one.after], made.names[one.before], size_text(one.about),
                        size_text(one.from), size_text(one.to));
  if (all.empty() && !made.rows.empty())
    text += fmt::format("{} is the fastest algorithm for all sizes\n",
                        made.names[made.rows.front().fastest()]);
  return text + note_lines(made.notes);
}

std::string csv_of(const Comparison& made, bool bounded) {
  const auto quoted = [](const std::string& name) {
    std::string cell = "\"";
    for (const char c : name) cell += c == '"' ? "\"\"" : std::string(1, c);
    return cell + "\"";
  };
  std::string text = bounded ? "bytes,lower_bound_us" : "bytes";
  for (const std::string& name : made.names) text += "," + quoted(name + "_us");
  text += ",fastest\n";
  for (const Row& row : made.rows) {
    text += std::to_string(row.bytes);
    if (row.bound) text += fmt::format(",{}", core::to_us(row.bound->time));
    for (const Time time : row.times) text += fmt::format(",{}", core::to_us(time));
    text += "," + quoted(made.names[row.fastest()]) + "\n";
  }
  return text;
}

Report report_of(const Comparison& made, const PerfAlgorithmsRequest& request) {
  Report report{{"collective", core::to_string(request.what.collective)},
                {"cluster", describe(*made.scenarios.front().cluster)},
                {"ranks", made.scenarios.front().cluster->replicas()},
                {"out_of_place", request.what.out_of_place},
                {"type", core::to_string(request.what.type)},
                {"backend", request.backend},
                {"transport", core::unless_empty(request.transport)},
                {"algorithms", made.names}};
  report.add(
      "rows", core::list_of(made.rows, [&](const Row& row) {
        Report times;
        for (std::size_t i = 0; i < row.times.size(); ++i) times.add(made.names[i], row.times[i]);
        Report one{{"bytes", row.bytes}};
        if (row.bound)
          one.add({{"lower_bound_us", row.bound->time}, {"lower_bound_reason", row.bound->reason}});
        return one.add({{"time_us", times}, {"fastest", made.names[row.fastest()]}});
      }));
  report.add("crossings", core::list_of(crossings(made.rows), [&](const Crossing& one) {
               return Report{{"from", made.names[one.before]},
                             {"to", made.names[one.after]},
                             {"above_bytes", one.from},
                             {"at_most_bytes", one.to},
                             {"about_bytes", one.about}};
             }));
  return report.add("notes", made.notes);
}

}  // namespace

int perf_algorithms(const PerfAlgorithmsRequest& request, const Environment& environment,
                    real::TcpExecutor* processes) {
  if (request.format != "text" && request.format != "csv" && request.format != "json")
    return refuse({ProblemCode::kUnknownName, "--format"},
                  "--format {}: expected one of text, csv, json", request.format);
  ComparingAlgorithms comparing(request, environment, processes);
  const auto made = comparing.run();
  if (!made) return report(made.error());
  const std::string text = request.format == "csv"    ? csv_of(*made, request.backend == "sim")
                           : request.format == "json" ? result_json(report_of(*made, request))
                                                      : text_of(*made, request);
  const int printed = request.format == "text" ? print_report(text) : print_out(text);
  return comparing.interrupted()
             ? report(core::Error::run({core::ProblemCode::kStopped},
                                       "interrupted; the sizes that were not measured are missing"))
             : printed;
}

}  // namespace tutti::tools
