#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/lowering/step_program.h"
#include "core/plan/task_cost.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A training step as a list of nodes, for file formats without loops. Blocks of tasks that repeat
/// are unrolled. A node of a task that waits for a latch (Task::latch) depends on the node of the
/// task that opens the latch. A node depends only on earlier nodes of the list.
struct StepNodes {
  struct Node {
    const Task* task = nullptr;
    TaskId id = kNoTask;  ///< index of the task in its program
    Time duration;        ///< duration of a compute task if nothing slows it down
    std::int64_t compute_bound_ppm = 0;
    std::int64_t occurrence = 0;  ///< for an exchange: number of its earlier executions in the step
    std::vector<std::int32_t> after;
  };
  std::vector<Node> nodes;
};

/// Unrolls a program. The nodes are in the order in which a program runner (core/plan/runner.h)
/// would start them if all tasks took no time. REQUIRES: problems_of(program) is empty.
StepNodes unroll(const Program& program, const Durations& durations, const ComputeRates& rates);

/// Returns the reason why the training step of a scenario cannot be written as a fixed graph of
/// tasks. For example, a gate (core/plan/gate/gate.h) may decide at run time when packs start. The
/// result is empty if the step can be written as a graph.
std::string why_no_graph(const Scenario& scenario);

/// Returns the name of a node: "backward conv1", "pack 3", "tensor 0.5" (execution 5 of exchange 0,
/// on communicator "tensor").
std::string name_of(const Scenario& scenario, const StepNodes::Node& node);

}  // namespace tutti::core
