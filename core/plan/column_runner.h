#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/plan/runner.h"
#include "core/plan/task_columns.h"
#include "core/plan/task_counts.h"

namespace tutti::core {

/// Runs a program that lies in columns, of which it keeps nothing: for each replica it remembers
/// only the tasks that wait for some of their predecessors. Its calls are those of a Runner for the
/// same program, in the same order (held together by a test). It is slower than a Runner, which
/// looks counts up in an array: it is for programs whose state would be too large that way.
/// Memory: TaskCounts of the tasks that wait for some of their predecessors, 4 bytes for each
/// block, a bit for each hold, and 4 bytes for each task that is held. Nothing for tasks that are
/// in flight, so completing one twice goes unnoticed here.
class ColumnRunner {
 public:
  /// REQUIRES: problems_of(columns) is empty; `columns` and `durations` outlive the runner; the
  /// rates that costs use are positive.
  ColumnRunner(const TaskColumns& columns, const Durations& durations, const ComputeRates& rates);

  /// Starts a step, as Runner::begin_step.
  void begin_step(std::int64_t pace_ppm, Host& host);
  /// A task that the host was asked for is complete. REQUIRES: it was asked for in this step, and
  /// not yet complete.
  void done(TaskId task, Host& host);

  [[nodiscard]] std::int64_t in_flight() const { return in_flight_; }
  /// Tasks of which some predecessors are complete and some are not.
  [[nodiscard]] std::int64_t waiting() const { return static_cast<std::int64_t>(missing_.size()); }
  /// Bytes of everything that is remembered now.
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Tasks that are still to be looked at, from `next` on (runner.h).
  struct Frame {
    enum class Of : std::uint8_t { kSuccessors, kHeld, kEntry };
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
  TaskCounts missing_;                   ///< predecessors that are not complete, of tasks of which some are
  std::vector<std::int32_t> iteration_;  ///< by block
  std::vector<bool> open_;               ///< by hold
  std::map<std::int32_t, std::vector<TaskId>>
      arrived_;                ///< by hold that is not open, or is being gone through: what waits for it
  std::vector<Frame> frames_;  ///< a stack: the innermost is last
};

}  // namespace tutti::core
