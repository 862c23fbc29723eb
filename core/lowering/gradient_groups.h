#pragma once

// Groups the gradients of a workload by TensorFlow's rules (core/packing). A group is a list of
// indices of gradients, in packing order.

#include <vector>

#include "core/strategy/strategy.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// Implements agg_small_grads_*: groups adjacent small gradients. Every other gradient is a group
/// of its own.
std::vector<std::vector<int>> small_groups(const Workload& workload, const Strategy& strategy);
/// Implements bytes_per_pack. Gradients that were created last come first, because TensorFlow
/// reverses their order.
std::vector<std::vector<int>> groups_by_bytes(const Workload& workload, Bytes bytes_per_pack);
/// Makes `chunks` groups of nearly equal numbers of gradients. The last group comes first, and in
/// each group the last gradient comes first.
std::vector<std::vector<int>> groups_by_count(const Workload& workload, int chunks);

}  // namespace tutti::core
