#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// One collective of a group (ncclGroupStart, ncclGroupEnd) on a communicator.
struct Task {
  Function function = Function::kAllReduce;
  /// Elements passed to the call; for all-gather and reduce-scatter, of one block.
  std::int64_t elements = 0;
  ElementType type = ElementType::kFloat32;
  Reduction reduction = Reduction::kSum;
};

/// Tasks for which NCCL makes one choice, as if they were a single one.
struct Aggregate {
  std::vector<std::size_t> tasks;  ///< indices into the group, in the order of execution
  Operation operation;             ///< the tasks combined into one operation
};

/// REQUIRES: 2.22 or later. Returns NCCL's aggregation of a group: tasks of one function, type and
/// reduction, in ascending order, up to four times the traffic of the smallest. SOURCE: NVIDIA/nccl
/// src/enqueue.cc, ncclPrepareTasks.
std::vector<Aggregate> aggregate(const std::vector<Task>& group, const Communicator& communicator);

std::int64_t size_of(ElementType type);

}  // namespace tutti::core::nccl
