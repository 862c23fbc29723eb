#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/program.h"

namespace tutti::core {

/// The order in which a replica issues the compute and communicate tasks of a program, and which
/// parts of it do not depend on timing.
///
/// The order is that of a run in which every task completes as soon as those before it have; tasks
/// that are skipped in some steps are included, and a block runs once. Task q certainly follows
/// task p if everything that p waits for is complete before some compute or communicate task that q
/// waits for. The compute stream is a FIFO queue, so a computation also waits for the one that is
/// certainly issued before it.
/// Cost: linear in tasks and edges if neighbours in the order are also close in the graph, as in
/// training steps.
class IssueOrder {
 public:
  /// REQUIRES: problems_of(program) is empty; `program` outlives the order.
  explicit IssueOrder(const Program& program);

  /// Compute and communicate tasks, in the order in which they are issued.
  [[nodiscard]] const std::vector<TaskId>& tasks() const { return issued_; }
  /// True if `before` is issued before `after` for every timing. REQUIRES: that is their order in
  /// tasks().
  [[nodiscard]] bool is_certain(TaskId before, TaskId after) const;
  /// Returns the computation that is certainly issued just before `task` on the compute stream, and
  /// so completes before it; kNoTask: none.
  [[nodiscard]] TaskId earlier_on_stream(TaskId task) const {
    return earlier_[static_cast<std::size_t>(task)];
  }
  /// Visits the tasks that `task` waits for: its predecessors, and the one that opens its hold.
  template <class Visit>
  void each_awaited(TaskId task, const Visit& visit) const {
    const auto t = static_cast<std::size_t>(task);
    for (std::int32_t e = first_before_[t]; e < first_before_[t + 1]; ++e)
      visit(before_[static_cast<std::size_t>(e)]);
  }

 private:
  void run();
  /// Returns the task or join whose completion alone releases `task`, through marks with one
  /// predecessor each; kNoTask: the beginning of the step. `several` is set if `task` waits for
  /// several.
  [[nodiscard]] TaskId released_by(TaskId task, bool& several) const;

  const Program& program_;
  std::vector<std::int32_t> first_before_;
  std::vector<TaskId> before_;
  std::vector<TaskId> issued_;
  std::vector<std::int32_t> completed_;  ///< by task: its index in the order of completions
  std::vector<TaskId> earlier_;          ///< by task: an earlier task that is certain to be issued
                                         ///< before it; kNoTask: none
  mutable std::vector<std::uint8_t>
      seen_;  ///< by task, for is_certain: 1 reached, 2 reached through a task that takes time
  mutable std::vector<TaskId> touched_;
};

}  // namespace tutti::core
