#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/lowering/step_program.h"
#include "core/plan/task_cost.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A training step as a list of nodes, for formats that have no loops: blocks are unrolled, and a
/// hold is a dependency. A node only depends on nodes before it.
struct StepNodes {
  struct Node {
    const Task* task = nullptr;
    TaskId id = kNoTask;  ///< index of the task in its program
    Time duration;        ///< duration of a compute task, at the nominal pace
    std::int64_t compute_bound_ppm = 0;
    std::int64_t occurrence = 0;  ///< how many times the exchange occurred earlier in the step
    std::vector<std::int32_t> after;
  };
  std::vector<Node> nodes;
};

/// Unrolls a program. Nodes are in the order in which the runner starts them if nothing takes time,
/// which keeps the order in which a task releases others. REQUIRES: problems_of(program) is empty.
StepNodes unroll(const Program& program, const Durations& durations, const ComputeRates& rates);

/// Returns why the step of a scenario cannot be written as a graph of tasks: something decides
/// while it runs what happens. Empty: it can.
std::string why_no_graph(const Scenario& scenario);

/// The name of a node: "backward conv1", "pack 3", "exchange 0.5 of tensor".
std::string name_of(const Scenario& scenario, const StepNodes::Node& node);

}  // namespace tutti::core
