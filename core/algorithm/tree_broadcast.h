#pragma once

#include <memory>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The binary tree of one subdivision of TensorFlow's broadcast, by positions 0 … size - 1. From position 0 the tree is a
/// heap: r sends to 2r + 1 and 2r + 2. From elsewhere the source sends to 0 and 1 besides, and r sends to 2r + 2 and 2r + 3,
/// but never to the source; who has nobody before it in that heap has it from the source.
struct BroadcastTree {
  std::int32_t size = 1;
  std::int32_t source = 0;

  /// Who sends to `position`; -1: nobody, it is the source.
  [[nodiscard]] std::int32_t receives_from(std::int32_t position) const;
  /// To whom `position` sends, in order: at most four.
  [[nodiscard]] std::vector<std::int32_t> sends_to(std::int32_t position) const;
};

/// TensorFlow's HierarchicalTreeBroadcast: a tree over the tasks (of several: the root in its own, the first device of every
/// other), then one inside each task. A device that has received sends to everyone below it at the same time, and what it
/// sends inside its task begins when all that it sends to other tasks has left. Every rank but the root receives the
/// buffer once, in one message; the depth of each tree is about log2 of its size.
///
/// Every rank has a lane that receives, one for each that it sends to, and the root, out of place, one that copies.
/// SOURCE: tensorflow/core/common_runtime/hierarchical_tree_broadcaster.cc.
/// REQUIRES: the contract is that of a broadcast among the order's ranks.
std::unique_ptr<Schedule> hierarchical_tree_broadcast(const Contract& contract, TaskOrder order, Engine engine);

}  // namespace tutti::core
