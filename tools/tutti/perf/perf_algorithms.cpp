// Compares algorithms by simulation. Every cell of the table is an ordinary simulation: the user's
// scenario with overrides for the algorithm, rewritten to reduce a single buffer of the given size.
// Sizes are rounded so that all ranks get equal blocks. Sizes that are equal after rounding are
// simulated once. The size at which another algorithm becomes the fastest is interpolated linearly
// between two simulated sizes. The lower bound is computed for the first algorithm's scenario.
// After an interrupt, the complete rows are printed.

#include "tools/tutti/perf/perf_algorithms.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/custom/custom_algorithm.h"
#include "core/lowering/reduction_scope.h"
#include "core/scenario/scenario.h"
#include "core/strategy/collective_bound.h"
#include "core/strategy/strategy.h"
#include "core/timeline/timeline.h"
#include "sim/simulator.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/perf_table.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::ProblemCode;
using core::Report;
using core::Time;

/// Keeps only the duration of a run's collective, and the notes.
class WholeTime : public core::NullSink {
 public:
  void pack(const core::PackRecord& pack) override { time = pack.end - pack.first_start; }
  void note(const std::string& note) override { notes.push_back(note); }
  std::optional<Time> time;
  std::vector<std::string> notes;
};

struct Row {
  std::int64_t bytes = 0;
  Time bound;
  std::string bound_reason;
  std::vector<Time> times;  ///< by algorithm
  [[nodiscard]] std::size_t fastest() const {
    return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  }
};

/// A change of the fastest algorithm between two sizes.
struct Crossing {
  std::size_t before = 0;
  std::size_t after = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t about =
      0;  ///< the size in bytes, between the two measured sizes, at which the two lines intersect
};

struct Comparison {
  std::vector<std::string> names;
  std::vector<core::Scenario> scenarios;
  std::vector<Row> rows;
  std::vector<std::string> notes;
};

/// Returns the size in bytes at which two straight lines intersect: each is drawn through the times
/// of one algorithm at two sizes.
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
    // An algorithm that is only equally fast is not reported as a change.
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

class ComparingAlgorithms {
 public:
  ComparingAlgorithms(const PerfAlgorithmsRequest& request, const Environment& environment)
      : request_(request), environment_(environment) {}

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
    std::size_t done = 0;
    for (const std::int64_t elements : sizes) {
      Row row;
      row.bytes = elements * core::size_of(request_.what.type).count();
      for (std::size_t i = 0; i < made_.scenarios.size(); ++i) {
        auto time = time_of(i, elements);
        if (!time) return failed(time);
        if (!*time) return std::move(made_);  // interrupted: return the rows so far
        row.times.push_back(**time);
        progress_.update(static_cast<double>(++done) /
                         static_cast<double>(sizes.size() * made_.scenarios.size()));
      }
      // There is one bound for all columns. If one of the algorithms reduces in the network, fewer
      // bytes have to move, so the bound is lower.
      const core::Scenario& first = made_.scenarios.front();
      const bool network_adds = std::any_of(
          made_.scenarios.begin(), made_.scenarios.end(),
          [](const core::Scenario& scenario) { return core::network_adds(scenario.plan); });
      const core::Bound bound =
          core::collective_bound(*first.cluster, kind, request_.what.root, core::Bytes(row.bytes),
                                 first.run.network_model, network_adds);
      row.bound = bound.time;
      row.bound_reason = bound.reason;
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
      ScenarioOptions one = request_.scenario;
      for (std::string& setting : settings_for_algorithm(name)) one.set.push_back(setting);
      auto scenario = load_scenario(one, environment_);
      if (!scenario) return failed(scenario);
      const core::ReductionScope who = core::reduction_scope(scenario->strategy, scenario->plan);
      if (core::on_servers(who) || who == core::ReductionScope::kNoReduction)
        return refused({ProblemCode::kUnsupported, "--algorithms"},
                       "--algorithms: {} is not a collective of all replicas", name);
      if (const auto& custom = scenario->strategy.custom;
          custom && custom->text->kind() != request_.what.collective)
        return refused(
            {ProblemCode::kConflict, "--algorithms"},
            "--algorithms: \"{}\" describes {}, but the compared collective is {} (--collective)",
            custom->file, to_string(custom->text->kind()), to_string(request_.what.collective));
      made_.names.push_back(name);
      made_.scenarios.push_back(std::move(*scenario));
    }
    return {};
  }

  /// Returns the algorithm's time; nullopt if the simulation was interrupted.
  Expected<std::optional<Time>> time_of(std::size_t algorithm, std::int64_t elements) {
    const core::Scenario& from = made_.scenarios[algorithm];
    core::OneBuffer what = request_.what;
    what.elements = elements;
    const auto scenario = core::read_scenario(core::with_one_buffer(from.text, from.file, what),
                                              from.file, environment_.library);
    if (!scenario) return tl::make_unexpected(core::without_lines(scenario.error()));
    WholeTime timing;
    core::RunControl control;
    control.cancel = &interrupt_.flag();
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    const auto ran = simulator_.run(*scenario, record, control, timing);
    if (!ran) return failed(ran);
    if (interrupt_.happened()) return std::optional<Time>();
    for (const std::string& note : timing.notes) {
      if (notes_seen_.insert(note).second)
        made_.notes.push_back(made_.names[algorithm] + ": " + note);
    }
    return timing.time;
  }

  const PerfAlgorithmsRequest& request_;
  const Environment& environment_;
  Comparison made_;
  std::set<std::string> notes_seen_;
  sim::Simulator simulator_;
  Interrupt interrupt_;
  Progress progress_{"simulating"};
};

std::string text_of(const Comparison& made, const PerfAlgorithmsRequest& request) {
  std::string text = fmt::format("{} on {}, {}, simulated\n", to_string(request.what.collective),
                                 describe(*made.scenarios.front().cluster),
                                 request.what.out_of_place ? "out of place" : "in place");
  std::vector<std::string> headings{"size (B)", "lower bound"};
  headings.insert(headings.end(), made.names.begin(), made.names.end());
  headings.insert(headings.end(), {"<fastest", "of bound"});
  Table table(headings);
  for (const Row& row : made.rows) {
    std::vector<std::string> cells{std::to_string(row.bytes), core::show(row.bound)};
    for (const Time time : row.times) cells.push_back(core::show(time));
    const Time best = row.times[row.fastest()];
    cells.push_back(made.names[row.fastest()]);
    cells.push_back(best > Time() ? core::show_share(share(row.bound, best)) : "–");
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

std::string csv_of(const Comparison& made) {
  const auto quoted = [](const std::string& name) {
    std::string cell = "\"";
    for (const char c : name) cell += c == '"' ? "\"\"" : std::string(1, c);
    return cell + "\"";
  };
  std::string text = "bytes,lower_bound_us";
  for (const std::string& name : made.names) text += "," + quoted(name + "_us");
  text += ",fastest\n";
  for (const Row& row : made.rows) {
    text += fmt::format("{},{}", row.bytes, core::to_us(row.bound));
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
                {"algorithms", made.names}};
  report.add("rows", core::list_of(made.rows, [&](const Row& row) {
               Report times;
               for (std::size_t i = 0; i < row.times.size(); ++i)
                 times.add(made.names[i], row.times[i]);
               return Report{{"bytes", row.bytes},
                             {"lower_bound_us", row.bound},
                             {"lower_bound_reason", row.bound_reason},
                             {"time_us", times},
                             {"fastest", made.names[row.fastest()]}};
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

std::vector<std::string> settings_for_algorithm(const std::string& name) {
  for (const core::AlgorithmChoice known : core::algorithms()) {
    if (to_string(known) == name)
      return {"strategy.custom.file=", "strategy.custom.set=", "strategy.algorithm=" + name};
  }
  // Parameters of the scenario belong to its own file, so each algorithm has only those that its
  // name states: "mine.tutti-algorithm:slices=8".
  const std::size_t equals = name.find('=');
  const std::size_t colon =
      equals == std::string::npos ? std::string::npos : name.rfind(':', equals);
  const std::string file = name.substr(0, colon);
  const std::string set = colon == std::string::npos ? "" : name.substr(colon + 1);
  std::error_code status;
  const bool here = std::filesystem::is_regular_file(file, status);
  const std::string path = here ? std::filesystem::absolute(file, status).string() : file;
  return {"strategy.algorithm=", "strategy.custom.file=" + path, "strategy.custom.set=" + set};
}

int perf_algorithms(const PerfAlgorithmsRequest& request, const Environment& environment) {
  if (request.format != "text" && request.format != "csv" && request.format != "json")
    return refuse({ProblemCode::kUnknownName, "--format"},
                  "--format {}: expected one of text, csv, json", request.format);
  ComparingAlgorithms comparing(request, environment);
  const auto made = comparing.run();
  if (!made) return report(made.error());
  const std::string text = request.format == "csv"    ? csv_of(*made)
                           : request.format == "json" ? result_json(report_of(*made, request))
                                                      : text_of(*made, request);
  const int printed = request.format == "text" ? print_report(text) : print_out(text);
  return comparing.interrupted() ? static_cast<int>(kRunFailed) : printed;
}

}  // namespace tutti::tools
