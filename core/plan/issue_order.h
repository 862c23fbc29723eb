#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/program.h"

namespace tutti::core {

/// The order in which a replica issues the compute and communicate tasks of a program, and the
/// parts of this order that do not depend on timing.
///
/// tasks() is the order of a run in which tasks complete in the order in which they are issued. The
/// list includes tasks that are skipped in some steps. Each task of a block is listed once.
///
/// Task q certainly follows task p if q waits for a compute or communicate task that cannot
/// complete before all tasks that p waits for are complete. The compute stream is a FIFO queue, so
/// a computation also waits for the computation that is certainly issued before it. Cost: linear in
/// tasks and edges if tasks that are close in the order are also close in the graph, as in training
/// steps.
class IssueOrder {
 public:
  /// REQUIRES: problems_of(program) is empty; `program` outlives the order.
  explicit IssueOrder(const Program& program);

  /// Returns the compute and communicate tasks, in the order in which they are issued.
  [[nodiscard]] const std::vector<TaskId>& tasks() const { return issued_; }
  /// True if `before` is issued before `after` for every timing.
  /// REQUIRES: `before` comes before `after` in tasks().
  [[nodiscard]] bool is_certain(TaskId before, TaskId after) const;
  /// Returns the computation before `task` in tasks(), if this computation completes before `task`
  /// for every timing; otherwise kNoTask.
  [[nodiscard]] TaskId earlier_on_stream(TaskId task) const { return earlier_[task]; }
  /// Visits the tasks that `task` waits for: its predecessors, and the task that opens its hold.
  template <class Visit>
  void each_awaited(TaskId task, const Visit& visit) const {
    const auto t = static_cast<std::size_t>(task);
    for (std::int32_t e = first_before_[t]; e < first_before_[t + 1]; ++e) visit(before_[e]);
  }

 private:
  void run();
  /// Returns the task or join whose completion releases `task`, directly or through marks with one
  /// predecessor; kNoTask for the start of the step. Sets `several` to true if `task` waits for
  /// several tasks.
  [[nodiscard]] TaskId released_by(TaskId task, bool& several) const;

  const Program& program_;
  std::vector<std::int32_t> first_before_;
  std::vector<TaskId> before_;
  std::vector<TaskId> issued_;
  std::vector<std::int32_t> completed_;  ///< by task: its index in the order of completions
  std::vector<TaskId> earlier_;          ///< by task: see earlier_on_stream()
  mutable std::vector<std::uint8_t>
      seen_;  ///< by task, for is_certain(): 1: reached; 2: reached through a task that takes time
  mutable std::vector<TaskId> touched_;
};

}  // namespace tutti::core
