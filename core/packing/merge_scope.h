#pragma once

#include <vector>

namespace tutti::core {

/// Implements all_reduce_merge_scope: divides `count` packs or gradients into groups of `scope`
/// neighbours; the last group may be smaller. A scope below 1 counts as 1. Returns, for each group,
/// the indices of its packs or gradients.
/// SOURCE: tensorflow/python/distribute/cross_device_ops.py (1.15), CollectiveAllReduce;
/// benchmarks' allreduce.py.
std::vector<std::vector<int>> merge_consecutive(int count, int scope);

}  // namespace tutti::core
