#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// One collective of a group (ncclGroupStart, ncclGroupEnd) on a communicator.
struct Task {
  Function function = Function::kAllReduce;
  std::int64_t elements =
      0;  ///< as the call is told them: of a block, of all-gather and reduce-scatter
  ElementType type = ElementType::kFloat32;
  Reduction reduction = Reduction::kSum;
};

/// Tasks that NCCL chooses for together, as if they were one.
struct Aggregate {
  std::vector<std::size_t> tasks;  ///< of the group, in the order in which they run
  Operation operation;             ///< of all of them
};

/// REQUIRES: 2.22 or later. How these take a group together: tasks of one function, type and
/// reduction, ascending, up to four times the smallest one's traffic. SOURCE: NVIDIA/nccl
/// src/enqueue.cc, ncclPrepareTasks.
std::vector<Aggregate> aggregate(const std::vector<Task>& group, const Communicator& communicator);

std::int64_t size_of(ElementType type);

}  // namespace tutti::core::nccl
