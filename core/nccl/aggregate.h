#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// One collective of a group (ncclGroupStart, ncclGroupEnd) on a communicator.
struct Task {
  Function function = Function::kAllReduce;
  /// The number of elements passed to the call. For an all-gather or reduce-scatter, `elements` is
  /// the number of elements of one block.
  std::int64_t elements = 0;
  ElementType type = ElementType::kFloat32;
  Reduction reduction = Reduction::kSum;
};

/// Tasks that NCCL aggregates. NCCL chooses the algorithm once for all tasks of an aggregate, as if
/// they were one task.
struct Aggregate {
  std::vector<std::size_t> tasks;  ///< indices of the tasks in the group, in the order of execution
  Operation operation;             ///< operation that combines all tasks
};

/// Returns NCCL's aggregation of a group. All tasks of an aggregate have the same function, type
/// and reduction. The tasks are in ascending order of traffic, and each task has less than four
/// times the traffic of the first task.
/// REQUIRES: NCCL 2.22 or later.
/// SOURCE: NVIDIA/nccl src/enqueue.cc, ncclPrepareTasks.
std::vector<Aggregate> aggregate(const std::vector<Task>& group, const Communicator& communicator);

std::int64_t size_of(ElementType type);

}  // namespace tutti::core::nccl
