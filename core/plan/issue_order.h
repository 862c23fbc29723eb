#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/program.h"

namespace tutti::core {

/// The order in which a replica issues the compute and communicate tasks of a program. is_certain()
/// determines which parts of this order do not depend on the durations of tasks.
///
/// tasks() returns the order for a run in which tasks complete in the order in which they are
/// issued. The list includes tasks that are skipped in some steps. Each task of a block is listed
/// once.
///
/// Task q is certainly issued after task p if q waits for some compute or communicate task r, and r
/// starts only after all predecessors of p are complete. The compute stream is a FIFO queue, so a
/// compute task also waits for every compute task that is certainly issued before it. The cost of
/// creating an IssueOrder is linear in tasks and edges if tasks that are close in the order are
/// also close in the graph, as in training steps.
class IssueOrder {
 public:
  /// REQUIRES: problems_of(program) is empty; `program` outlives the order.
  explicit IssueOrder(const Program& program);

  /// Returns the compute and communicate tasks, in the order in which they are issued.
  [[nodiscard]] const std::vector<TaskId>& tasks() const { return issued_; }
  /// True if `before` is issued before `after`, whatever the durations of tasks are.
  /// REQUIRES: `before` comes before `after` in tasks().
  [[nodiscard]] bool is_certain(TaskId before, TaskId after) const;
  /// For a compute task that is executed in every step: returns the previous such task in tasks(),
  /// if that task is certainly issued before `task`, and therefore always completes before `task`
  /// starts. Otherwise returns kNoTask.
  [[nodiscard]] TaskId earlier_on_stream(TaskId task) const { return earlier_[task]; }
  /// Visits the tasks that `task` waits for: its predecessors and, if it waits for a latch
  /// (program.h), the task that opens the latch.
  template <class Visit>
  void each_awaited(TaskId task, const Visit& visit) const {
    const std::size_t t = task;
    for (std::int32_t e = first_before_[t]; e < first_before_[t + 1]; ++e) visit(before_[e]);
  }

 private:
  void run();
  /// Returns the task whose completion lets `task` start, directly or through mark tasks with one
  /// predecessor; kNoTask if `task` starts with the step. Sets `several` to true if `task` waits
  /// for several tasks.
  [[nodiscard]] TaskId released_by(TaskId task, bool& several) const;

  const Program& program_;
  std::vector<std::int32_t> first_before_;
  std::vector<TaskId> before_;
  std::vector<TaskId> issued_;
  std::vector<std::int32_t> completed_;  ///< for each task: its index in the order in which tasks
                                         ///< complete
  std::vector<TaskId> earlier_;          ///< for each task: see earlier_on_stream()
  mutable std::vector<std::uint8_t>
      seen_;  ///< for each task, while is_certain() searches: 0: not reached; 1: reached; 2:
              ///< reached through a task that takes time
  mutable std::vector<TaskId> touched_;
};

}  // namespace tutti::core
