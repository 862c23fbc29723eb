#pragma once

#include <vector>

namespace tutti::core {

/// all_reduce_merge_scope: `count` units in order, `scope` consecutive ones each; the last group
/// may be short. A scope of 0 or less counts as 1. Answers indices, group by group. SOURCE:
/// tensorflow/python/distribute/cross_device_ops.py (1.15), CollectiveAllReduce; benchmarks'
/// allreduce.py.
std::vector<std::vector<int>> merge_consecutive(int count, int scope);

}  // namespace tutti::core
