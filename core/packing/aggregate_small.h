#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/data_type.h"

namespace tutti::core {

/// The result of extract_ranges().
struct IndexRuns {
  std::vector<std::vector<int>> runs;  ///< runs of two or more consecutive indices
  std::vector<int> singles;
};

/// Groups ascending `indices` into runs of consecutive indices. An index is added to a run if,
/// before the addition, the last and the first index of the run differ by at most `limit`. A run
/// may therefore have up to limit + 2 indices.
/// SOURCE: tensorflow/python/distribute/cross_device_utils.py, extract_ranges.
IndexRuns extract_ranges(std::span<const int> indices, std::int64_t limit);

struct SmallGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;
};

/// Implements TensorFlow's agg_small_grads_max_bytes and agg_small_grads_max_group: forms packs of
/// two or more adjacent float32 gradients. Only gradients of at most `max_bytes` are in such packs.
/// Every other gradient is a separate pack; the packs with a single gradient come last. Returns,
/// for each pack, the indices of its gradients. If `exact_group` is false, packs have up to
/// max_group + 2 gradients, as in TensorFlow. If `exact_group` is true, packs have at most
/// max_group gradients. REQUIRES: both limits are above 0. SOURCE:
/// tensorflow/python/distribute/cross_device_utils.py, pack_small_tensors.
std::vector<std::vector<int>> aggregate_small(std::span<const SmallGradient> gradients,
                                              Bytes max_bytes, std::int64_t max_group,
                                              bool exact_group = false);

}  // namespace tutti::core
