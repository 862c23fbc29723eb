#pragma once

#include <cstdint>

#include "core/plan/program.h"

namespace tutti::core {

/// The form in which an executor (the simulator or a real run) stores a compute task that a runner
/// has passed to Host::compute(). A compute stream executes one compute task at a time.
struct ComputeTask {
  ComputeTask() = default;
  ComputeTask(TaskId task_id, const Task& task, Time time, std::int64_t bound_ppm)
      : id(task_id),
        kind(task.compute),
        pack(task.pack),
        index(task.index),
        duration(time),
        compute_bound_ppm(bound_ppm) {}

  TaskId id = kNoTask;
  ComputeKind kind = ComputeKind::kForward;
  std::int32_t pack = -1;   ///< label, as in Task
  std::int32_t index = -1;  ///< label, as in Task
  Time duration;
  std::int64_t compute_bound_ppm = 0;  ///< fraction of the time that is limited by multiprocessors,
                                       ///< in millionths; memory bandwidth limits the rest of the
                                       ///< time
};

}  // namespace tutti::core
