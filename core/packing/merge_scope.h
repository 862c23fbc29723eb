#pragma once

#include <vector>

namespace tutti::core {

/// Implements all_reduce_merge_scope: divides `count` units into groups of `scope` consecutive
/// units; the last group may have fewer units. A scope below 1 counts as 1. Returns the indices of
/// the units in each group.
/// SOURCE: tensorflow/python/distribute/cross_device_ops.py (1.15), CollectiveAllReduce;
/// benchmarks' allreduce.py.
std::vector<std::vector<int>> merge_consecutive(int count, int scope);

}  // namespace tutti::core
