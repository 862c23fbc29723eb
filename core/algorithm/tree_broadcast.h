#pragma once

#include <memory>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The binary tree of one subdivision of TensorFlow's broadcast. A subdivision consists of all
/// tasks or of the devices of one task; its members have positions 0 … size - 1. If the source is
/// position 0, the tree is a binary heap: position r sends to 2r + 1 and 2r + 2. If the source is
/// another position, position r sends to 2r + 2 and 2r + 3, except to the source. The source also
/// sends to positions 0 and 1.
struct BroadcastTree {
  std::int32_t size = 1;
  std::int32_t source = 0;

  /// Returns the position that sends to `position`; -1 for the source.
  [[nodiscard]] std::int32_t receives_from(std::int32_t position) const;
  /// Returns the positions to which `position` sends, in order; there are at most four.
  [[nodiscard]] std::vector<std::int32_t> sends_to(std::int32_t position) const;
};

/// Returns TensorFlow's HierarchicalTreeBroadcast: a tree over all tasks, then a tree inside each
/// task. The tree over all tasks has one device per task as its nodes: the root in the root's task,
/// and the first device in every other task. A device that has received the buffer first sends it
/// to all its children in other tasks, concurrently. After these transfers, the device sends the
/// buffer concurrently to all its children in the same task. Every rank except the root receives
/// the whole buffer in one message. The depth of a tree is about log2 of its size.
///
/// Every rank has a lane (sequence of steps) that receives, and one lane per child. If `contract`
/// describes an out-of-place collective, the root has another lane, which copies its input.
/// SOURCE: tensorflow/core/common_runtime/hierarchical_tree_broadcaster.cc.
/// REQUIRES: the contract is that of a broadcast among the ranks of the order.
std::unique_ptr<Schedule> hierarchical_tree_broadcast(const Contract& contract, TaskOrder order,
                                                      Engine engine);

}  // namespace tutti::core
