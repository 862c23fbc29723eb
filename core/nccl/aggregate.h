#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// One collective of a group (ncclGroupStart, ncclGroupEnd) on a communicator.
struct Task {
  Function function = Function::kAllReduce;
  /// The number of elements, as the caller passes it to NCCL: for an all-gather or reduce-scatter,
  /// the number of elements in one rank's block.
  std::int64_t elements = 0;
  ElementType type = ElementType::kFloat32;
  Reduction reduction = Reduction::kSum;
};

/// Several tasks of a group for which NCCL chooses one algorithm, as if they were a single task.
struct Aggregate {
  std::vector<std::size_t> tasks;  ///< indices of the tasks in the group, in the order of execution
  Operation operation;             ///< the operation that NCCL passes to its cost model for all
                                   ///< tasks together
};

/// Returns how NCCL divides a group into aggregates. All tasks of an aggregate have the same
/// function, type and reduction. The tasks of an aggregate are in ascending order of traffic, and
/// each has less than four times the traffic of the first.
/// REQUIRES: NCCL 2.22 or later.
/// SOURCE: NVIDIA/nccl src/enqueue.cc, ncclPrepareTasks.
std::vector<Aggregate> aggregate(const std::vector<Task>& group, const Communicator& communicator);

std::int64_t size_of(ElementType type);

}  // namespace tutti::core::nccl
