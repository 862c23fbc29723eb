#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/data_type.h"

namespace tutti::core {

/// Runs of consecutive numbers.
struct IndexRuns {
  std::vector<std::vector<int>> runs;  ///< runs of two or more indices
  std::vector<int> singles;
};

/// Groups ascending `indices` into runs of consecutive ones; a run is extended while last - first ≤
/// `limit`, tested before it is extended, so that it may hold up to limit + 2. SOURCE:
/// tensorflow/python/distribute/cross_device_utils.py, extract_ranges.
IndexRuns extract_ranges(std::span<const int> indices, std::int64_t limit);

struct SmallGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;
};

/// agg_small_grads_max_bytes and _max_group: float32 gradients of at most `max_bytes` are grouped
/// into runs of neighbours; each run of two or more travels as one pack. Answers what travels, in
/// order: the packs first, then every other gradient by itself. REQUIRES: both limits above 0.
/// TensorFlow's runs hold up to max_group + 2; with `exact_group` they hold max_group at most.
/// SOURCE: tensorflow/python/distribute/cross_device_utils.py, pack_small_tensors.
std::vector<std::vector<int>> aggregate_small(std::span<const SmallGradient> gradients,
                                              Bytes max_bytes, std::int64_t max_group,
                                              bool exact_group = false);

}  // namespace tutti::core
