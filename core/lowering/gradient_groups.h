#pragma once

// Which of a workload's gradients go together, by TensorFlow's rules (core/packing), as numbers of gradients in the order in which they are packed.

#include <vector>

#include "core/strategy/strategy.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// agg_small_grads_*: neighbours that are small; all others alone.
std::vector<std::vector<int>> small_groups(const Workload& workload, const Strategy& strategy);
/// bytes_per_pack: last-created gradients first, as TensorFlow reverses them.
std::vector<std::vector<int>> groups_by_bytes(const Workload& workload, Bytes bytes_per_pack);
/// So many chunks: the last one first, and in each the last gradient.
std::vector<std::vector<int>> groups_by_count(const Workload& workload, int chunks);

}  // namespace tutti::core
