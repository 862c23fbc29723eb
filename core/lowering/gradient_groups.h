#pragma once

// Groups the gradients of a workload by TensorFlow's rules (core/packing). Groups are indices of
// gradients in packing order.

#include <vector>

#include "core/strategy/strategy.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// agg_small_grads_*: groups adjacent small gradients; all others stay alone.
std::vector<std::vector<int>> small_groups(const Workload& workload, const Strategy& strategy);
/// bytes_per_pack: last-created gradients first, since TensorFlow reverses them.
std::vector<std::vector<int>> groups_by_bytes(const Workload& workload, Bytes bytes_per_pack);
/// Makes `chunks` chunks: the last one first, and in each the last gradient first.
std::vector<std::vector<int>> groups_by_count(const Workload& workload, int chunks);

}  // namespace tutti::core
