#include "tools/tutti/plan_graph.h"

#include <optional>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/graph/step_graph.h"
#include "core/graph/task_times.h"
#include "core/lowering/step_program.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"
#include "tools/tutti/command.h"
#include "tools/tutti/io/output_file.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;
using core::Scenario;
using core::Task;

const core::PlannedCollective& planned_of(const core::Plan& plan, const Task& task) {
  return plan.planned(task.pack >= 0 ? plan.packs[task.pack].collective
                                     : plan.exchanges[task.index].collective);
}

core::StepGraphWords words_of(const Scenario& scenario) {
  const core::Plan& plan = scenario.plan;
  core::StepGraphWords words;
  words.communicators.emplace_back("packs of gradients");
  for (const core::Communicator& communicator : scenario.communicators)
    words.communicators.push_back(fmt::format("communicator \"{}\"", communicator.name));
  words.communicator = [&plan](const Task& task) {
    return task.pack >= 0 ? 0 : plan.exchanges[task.index].communicator + 1;
  };
  words.collective = [&plan](const Task& task) {
    return std::string(to_string(planned_of(plan, task).first.kind));
  };
  words.bytes = [&plan](const Task& task) { return planned_of(plan, task).first.bytes(); };
  words.segment = [&scenario](std::int32_t segment) {
    return scenario.workload.segments[segment].layer;
  };
  return words;
}

std::size_t group_of_worker(const core::Cluster& cluster, std::int64_t worker) {
  std::size_t group = 0;
  for (; group + 1 < cluster.groups().size() && worker >= cluster.groups()[group].count; ++group)
    worker -= cluster.groups()[group].count;
  return group;
}

/// Returns the known duration of a collective: NCCL's predicted time, or otherwise only the launch
/// overhead.
core::Time known_duration(const core::Plan& plan, const Task& task) {
  core::Time time = planned_of(plan, task).launch_overhead;
  for (const auto& nccl : core::nccl_times(planned_of(plan, task).first)) time += nccl->whole();
  return time;
}

}  // namespace

Expected<void> check_graph(const std::string& path) {
  if (path.ends_with(".svg") || path.ends_with(".dot")) return {};
  return refused({ProblemCode::kUnknownName, "--graph"},
                 "--graph {}: expected the name of an .svg or a .dot file", path);
}

Expected<std::string> write_graph(const Scenario& scenario, core::Executor* executor,
                                  const std::string& path) {
  if (scenario.plan.graph)
    return refused({ProblemCode::kUnsupported, "--graph"},
                   "--graph draws the training step of a model; an execution trace has a graph for "
                   "each rank, and is not drawn");
  const core::StepPrograms programs(scenario.workload, scenario.plan);
  const core::StepGraphWords words = words_of(scenario);
  std::optional<core::TaskTimes> times;
  std::string why_not;
  std::size_t group = 0;
  if (executor) {
    core::StepSpans spans;
    core::RecordOptions record;
    const auto ran = executor->run(scenario, record, {}, spans);
    if (!ran) {
      why_not = fmt::format("the simulation failed: {}", ran.error().problems().front().text);
    } else if (!spans.complete()) {
      why_not = "no training step of the simulation ended";
    } else {
      group = group_of_worker(*scenario.cluster, spans.device().first);
      times = spans.task_times(programs.program(group).program, [&](const Task& task) {
        const std::size_t c = words.communicator(task);
        return c == 0 ? std::string("gradients") : scenario.communicators[c - 1].name;
      });
    }
  }
  const core::Program& program = programs.program(group).program;
  if (!times) {
    const core::DeviceRates& device = scenario.cluster->part(scenario.cluster->replica(0)).device;
    times = core::times_by_durations(
        program, programs.durations(group), {device.copy, device.memory},
        [&](const Task& task) { return known_duration(scenario.plan, task); });
    if (!why_not.empty()) times->source += fmt::format(" ({})", why_not);
  }
  core::StepGraph graph = core::make_step_graph(program, *times, words);
  graph.title = fmt::format("{}: a training step of {}", scenario.name, show(times->step));
  graph.subtitle = fmt::format("{} · {} · {}", core::describe(*scenario.cluster),
                               scenario.workload.name, core::describe(scenario.strategy));
  const std::string text = path.ends_with(".svg") ? core::to_svg(graph) : core::to_dot(graph);
  if (auto written = write_file(path, {scenario.file}, text); !written) return failed(written);
  std::string message =
      fmt::format("{}: {} boxes, {} arrows\n", path, graph.boxes.size(), graph.arrows.size());
  for (const std::string& caption : graph.captions) message += caption + "\n";
  return message;
}

}  // namespace tutti::tools
