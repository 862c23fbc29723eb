#pragma once

#include <cstdint>
#include <vector>

#include "core/replay/execution_graph.h"

namespace tutti::core {

/// Builds the task graph of one rank of a trace.
class RankBuilder {
 public:
  /// Adds a computation. `compute_bound_ppm` is the fraction of the duration that is limited by
  /// multiprocessors, in millionths.
  TaskId compute(Time duration, std::uint8_t stream, std::int32_t compute_bound_ppm = 1'000'000);
  TaskId message(const ExecutionGraph::Message& message);
  TaskId collective(std::int32_t number);
  /// Adds a task that takes no time.
  TaskId mark();
  /// Adds a task that announces the start of another task, the compute task that the next call of
  /// compute() adds. The announcement is complete when the compute task starts.
  TaskId announce();

  void edge(TaskId from, TaskId to) { edges_.push_back({from, to}); }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tasks_.size()); }
  /// Returns the rank. The program ends when all tasks without successors are complete.
  ExecutionGraph::Rank build() &&;

 private:
  struct Edge {
    TaskId from, to;
  };
  TaskId add(const Task& task, std::uint8_t stream = 0);

  std::vector<Task> tasks_;
  std::vector<Edge> edges_;
  std::vector<TaskId> announced_;
  TaskId announcing_ = kNoTask;
  ExecutionGraph::Rank rank_;
};

}  // namespace tutti::core
