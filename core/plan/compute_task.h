#pragma once

#include <cstdint>

#include "core/plan/program.h"

namespace tutti::core {

/// An executor's record of a compute task that a runner requested (Host::compute). A compute stream
/// runs one at a time.
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
  std::int32_t index = -1;  ///< label, as in Task: the index of the backward segment
  Time duration;
  std::int64_t compute_bound_ppm =
      0;  ///< the share limited by multiprocessors, in millionths; memory limits the rest
};

}  // namespace tutti::core
