#pragma once

// Groups the gradients of a workload by TensorFlow's rules (core/packing). A group is a list of
// gradient indices, in packing order.

#include <vector>

#include "core/strategy/strategy.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// Groups adjacent small gradients, as TensorFlow's agg_small_grads_* flags request. A gradient
/// that is not small forms a group of its own.
std::vector<std::vector<int>> small_groups(const Workload& workload, const Strategy& strategy);
/// Groups the gradients by bytes_per_pack. The returned groups are in reverse order of creation,
/// because TensorFlow reverses the gradients before it packs them.
std::vector<std::vector<int>> groups_by_bytes(const Workload& workload, Bytes bytes_per_pack);
/// Divides the gradients into `chunks` groups, with nearly the same number of gradients in each.
/// Both the groups and the gradients in each group are in reverse order of creation.
std::vector<std::vector<int>> groups_by_count(const Workload& workload, int chunks);

}  // namespace tutti::core
