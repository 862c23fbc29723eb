#pragma once

#include <memory>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The binary tree of one subdivision of TensorFlow's broadcast, by positions 0 … size - 1. If the
/// source is position 0, the tree is a heap: r sends to 2r + 1 and 2r + 2. Otherwise the source
/// also sends to 0 and 1, and r sends to 2r + 2 and 2r + 3, but never to the source; a position
/// without a parent in that heap receives from the source.
struct BroadcastTree {
  std::int32_t size = 1;
  std::int32_t source = 0;

  /// Returns the position that sends to `position`; -1 for the source.
  [[nodiscard]] std::int32_t receives_from(std::int32_t position) const;
  /// Returns the positions that `position` sends to, in order: at most four.
  [[nodiscard]] std::vector<std::int32_t> sends_to(std::int32_t position) const;
};

/// TensorFlow's HierarchicalTreeBroadcast: a tree over the tasks (one device of each: the root in
/// its own task, the first device elsewhere), then one inside each task. A device that has received
/// sends to all its children at the same time, but its sends inside the task begin only after those
/// to other tasks have left. Every rank but the root receives the buffer once, in one message; the
/// depth of each tree is about log2 of its size.
///
/// Every rank has a lane that receives and one lane per child; the root has, out of place, another
/// one that copies.
/// SOURCE: tensorflow/core/common_runtime/hierarchical_tree_broadcaster.cc.
/// REQUIRES: the contract is that of a broadcast among the order's ranks.
std::unique_ptr<Schedule> hierarchical_tree_broadcast(const Contract& contract, TaskOrder order,
                                                      Engine engine);

}  // namespace tutti::core
