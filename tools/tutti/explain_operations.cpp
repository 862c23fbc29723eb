#include "tools/tutti/explain_operations.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/base/median.h"
#include "core/formats/operation_log.h"
#include "core/import/operation_graph.h"
#include "core/text/report.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::OperationGraph;
using core::Report;
using Kind = OperationGraph::Kind;

/// A hypothetical change of the job, and the mean step time of the changed job.
struct Change {
  std::string key, what;
  std::int64_t step_ns = 0;
};

/// The results of the command, in nanoseconds.
struct Explained {
  std::int64_t measured_ns = 0;   ///< mean time of all steps
  std::int64_t predicted_ns = 0;  ///< mean predicted time of all steps; predicted from the times of
                                  ///< computations
  std::vector<double> errors;     ///< sorted errors of the steps from which the graph was not
                                  ///< inferred
  std::vector<Change> changes;
};

std::string show_ns(std::int64_t ns) { return core::show(core::nanoseconds(ns)); }

class JobExplainer {
 public:
  explicit JobExplainer(const OperationGraph& graph) : graph_(graph) {}

  Explained explain() {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < graph_.steps().size(); ++s) {
      const OperationGraph::Step& step = graph_.steps()[s];
      sum += step.time;
      const auto predicted = static_cast<double>(graph_.step_time(step.durations));
      if (s >= graph_.inferred_from())
        made_.errors.push_back(std::abs(predicted / static_cast<double>(step.time) - 1));
    }
    std::sort(made_.errors.begin(), made_.errors.end());
    made_.measured_ns = sum / std::ssize(graph_.steps());
    made_.predicted_ns = mean([&](const auto& d) { return graph_.step_time(d); });
    const auto all = [](const OperationGraph::Task&) { return true; };
    add("no_stragglers",
        "no stragglers: every computation takes the mean time of all computations with its name",
        all);
    made_.changes.push_back(
        {"no_stragglers_and_no_gaps", "no stragglers and no host gaps", mean([&](const auto& d) {
           return graph_.step_time(graph_.without_stragglers(d, all), false);
         })});
    made_.changes.push_back({"no_gaps", "no host gaps",
                             mean([&](const auto& d) { return graph_.step_time(d, false); })});
    for (std::size_t n = 0; n < graph_.names().size(); ++n) {
      const auto same = [n](const OperationGraph::Task& task) {
        return static_cast<std::size_t>(task.name) == n && task.kind == Kind::kCompute;
      };
      if (std::any_of(graph_.tasks().begin(), graph_.tasks().end(), same))
        add("operation:" + graph_.names()[n], fmt::format("no stragglers in {}", graph_.names()[n]),
            same);
    }
    add_places("stage", &OperationGraph::Rank::stage);
    add_places("dp_rank", &OperationGraph::Rank::dp_rank);
    return std::move(made_);
  }

 private:
  template <class TimeOf>
  std::int64_t mean(const TimeOf& time_of) const {
    std::int64_t sum = 0;
    for (const OperationGraph::Step& step : graph_.steps()) sum += time_of(step.durations);
    return sum / std::ssize(graph_.steps());
  }
  void add(std::string key, std::string what,
           const std::function<bool(const OperationGraph::Task&)>& which) {
    made_.changes.push_back({std::move(key), std::move(what), mean([&](const auto& d) {
                               return graph_.step_time(graph_.without_stragglers(d, which));
                             })});
  }
  void add_places(const std::string& name, std::int64_t OperationGraph::Rank::*place) {
    std::set<std::int64_t> places;
    for (const OperationGraph::Rank& rank : graph_.ranks()) places.insert(rank.*place);
    constexpr std::size_t kMost = 64;
    if (places.size() < 2 || places.size() > kMost) return;
    for (const std::int64_t one : places)
      add(fmt::format("{}:{}", name, one), fmt::format("no stragglers in {} {}", name, one),
          [this, place, one](const OperationGraph::Task& task) {
            return graph_.ranks()[static_cast<std::size_t>(task.rank)].*place == one;
          });
  }

  const OperationGraph& graph_;
  Explained made_;
};

/// The numbers of messages and collectives of a graph, in which ranks wait for other ranks, and the
/// largest number of ranks of a collective.
struct Waits {
  std::size_t messages = 0, collectives = 0, largest = 0;
};
Waits waits_of(const OperationGraph& graph) {
  Waits waits;
  for (std::size_t t = 0; t < graph.tasks().size(); ++t) {
    const OperationGraph::Task& task = graph.tasks()[t];
    if (task.kind == Kind::kReceive && !task.partners.empty()) ++waits.messages;
    if (task.kind != Kind::kCollective || task.partners.size() < 2) continue;
    waits.largest = std::max(waits.largest, task.partners.size());
    if (static_cast<std::size_t>(task.partners.front()) == t) ++waits.collectives;
  }
  return waits;
}

std::string step_change(std::int64_t ns, std::int64_t from) {
  return fmt::format("{:+.1f} %", 100 * (static_cast<double>(ns) / static_cast<double>(from) - 1));
}

std::string text_of(const std::string& name, const OperationGraph& graph, const Explained& e,
                    int rows) {
  const Waits waits = waits_of(graph);
  std::string text = fmt::format(
      "{}: {} ranks, {} steps, {} operations a step; mean step time {}\n"
      "  dependencies inferred from the first {} steps: {} messages, and {} collectives of 2 to {} "
      "ranks\n"
      "  predictions of the other {} steps from the times of their computations: median error "
      "{:.2f} %, largest error {:.2f} %\n",
      name, graph.ranks().size(), graph.steps().size(), graph.tasks().size(),
      show_ns(e.measured_ns), graph.inferred_from(), waits.messages, waits.collectives,
      waits.largest, e.errors.size(), 100 * e.errors[e.errors.size() / 2], 100 * e.errors.back());
  if (graph.other_steps() > 0)
    text += fmt::format("  {} steps lack operations, and are not used\n", graph.other_steps());
  Table table({"<if there were", "step time", "change"});
  table.row({"the job as it is", show_ns(e.predicted_ns), ""});
  const auto shown = std::min(e.changes.size(), static_cast<std::size_t>(std::max(1, rows)));
  for (std::size_t i = 0; i < shown; ++i)
    table.row({e.changes[i].what, show_ns(e.changes[i].step_ns),
               step_change(e.changes[i].step_ns, e.predicted_ns)});
  text += '\n' + table.text(0);
  if (shown < e.changes.size())
    text += fmt::format("and {} more (use --rows or --format json to see them)\n",
                        e.changes.size() - shown);
  return text;
}

Report report_of(const std::string& name, const OperationGraph& graph, const Explained& e) {
  const Waits waits = waits_of(graph);
  const auto time = [](std::int64_t ns) { return core::nanoseconds(ns); };
  return {{"run", name},
          {"ranks", graph.ranks().size()},
          {"steps", graph.steps().size()},
          {"other_steps", graph.other_steps()},
          {"operations", graph.tasks().size()},
          {"messages", waits.messages},
          {"collectives", waits.collectives},
          {"inferred_from", graph.inferred_from()},
          {"measured_us", time(e.measured_ns)},
          {"predicted_us", time(e.predicted_ns)},
          {"predicted_steps", e.errors.size()},
          {"median_error", e.errors[e.errors.size() / 2]},
          {"worst_error", e.errors.back()},
          {"changes", core::list_of(e.changes, [&](const Change& c) {
             return Report{{"change", c.key}, {"what", c.what}, {"step_time_us", time(c.step_ns)}};
           })}};
}

}  // namespace

bool is_operation_log(const std::string& path) {
  const auto begin = core::first_bytes(path, 4096);
  return begin && core::is_operation_log(*begin);
}

int explain_operations(const ExplainOptions& options, const Environment& /*environment*/) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  const std::string& path = options.scenario.file;
  if (!options.scenario.settings().empty())
    return refuse({core::ProblemCode::kConflict, "--set"},
                  "a log of operations has no fields to set; remove --set");
  const auto input = core::open_byte_input(path);
  if (!input) return report(input.error());
  std::vector<core::LoggedOperation> operations;
  core::RecordCounts counts;
  constexpr std::size_t kMost = 20'000'000;
  bool too_many = false;
  const auto take = [&](const core::LoggedOperation& operation) {
    too_many = too_many || operations.size() >= kMost;
    if (!too_many) operations.push_back(operation);
  };
  if (const auto read = core::read_operation_log(**input, path, take, counts); !read)
    return report(read.error());
  if (too_many)
    return report(core::Error::request(
        {core::ProblemCode::kTooLarge},
        fmt::format("this log has more than {} operations; remove some of its steps", kMost),
        {path, 0, 0}));
  const auto graph = core::operation_graph(operations);
  if (!graph) return report(graph.error());
  const Explained explained = JobExplainer(*graph).explain();
  std::string name = std::filesystem::path(path).filename().string();
  name = name.substr(0, name.find('.'));
  if (*format == Format::kJson) return print_out(result_json(report_of(name, *graph, explained)));
  return print_report(text_of(name, *graph, explained, options.rows));
}

}  // namespace tutti::tools
