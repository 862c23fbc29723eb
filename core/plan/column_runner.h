#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/plan/runner.h"
#include "core/plan/task_columns.h"
#include "core/plan/task_counts.h"

namespace tutti::core {

/// Runs a program that is stored in columns, without copying it. While some, but not all,
/// predecessors of a task are complete, a ColumnRunner stores the number of the task's incomplete
/// predecessors. For all other tasks, it stores no number. A ColumnRunner makes the same calls in
/// the same order as a Runner of the same program (a test checks this), but is slower. A
/// ColumnRunner is used for very large programs, for which a Runner's array of counts would need
/// too much memory.
/// Memory: a TaskCounts entry for each task with some complete predecessors, 4 bytes for each
/// block, a bit for each latch (program.h), and 4 bytes for each task that waits for a latch. A
/// ColumnRunner has no state for tasks in flight, so it does not detect a task that is completed
/// twice.
class ColumnRunner {
 public:
  /// REQUIRES: problems_of(columns) is empty; `columns` and `durations` outlive the runner; the
  /// rates that the tasks' costs use are positive.
  ColumnRunner(const TaskColumns& columns, const Durations& durations, const ComputeRates& rates);

  /// Starts a training step; corresponds to Runner::begin_step().
  void begin_step(std::int64_t pace_ppm, Host& host);
  /// Completes a task.
  /// REQUIRES: in this step, the runner started the task through `host`, and the task is not yet
  /// complete.
  void done(TaskId task, Host& host);

  [[nodiscard]] std::int64_t in_flight() const { return in_flight_; }
  /// The number of tasks of which some, but not all, predecessors are complete.
  [[nodiscard]] std::int64_t waiting() const { return static_cast<std::int64_t>(missing_.size()); }
  /// The memory that the runner uses for its state, in bytes.
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// A list of tasks that the runner has to visit; see Runner::Frame.
  struct Frame {
    enum class Of : std::uint8_t { kSuccessors, kWaiting, kEntry };
    std::int64_t next;
    std::int32_t index;
    Of of;
  };

  void arrive(TaskId id, Host& host);
  void start(TaskId id, Host& host);
  void complete(TaskId id);
  void follow(std::size_t base, Host& host);

  TaskColumns columns_;
  const Durations* durations_;
  ComputeRates rates_;

  std::int32_t step_ = -1;
  std::int64_t pace_ppm_ = 1'000'000;
  std::int64_t in_flight_ = 0;
  TaskCounts missing_;  ///< for each task with some complete predecessors: number of its incomplete
                        ///< predecessors
  std::vector<std::int32_t> iteration_;  ///< for each block: index of the current iteration
  std::vector<bool> open_;  ///< for each latch: true if the latch is open, so that tasks
                            ///< need not wait for it
  std::map<std::int32_t, std::vector<TaskId>> arrived_;  ///< for each latch: the tasks that wait
                                                         ///< for it
  std::vector<Frame> frames_;                            ///< a stack; the innermost frame is last
};

}  // namespace tutti::core
