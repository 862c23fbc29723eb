#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// Implements TensorFlow's num_packs: concatenates all gradients of a device, and cuts the result
/// into `num_packs` packs of floor(total / num_packs) elements, regardless of where gradients begin
/// and end. The remainder is added to the last pack. If there are more packs than elements, all
/// packs except the last are empty. Returns the number of elements of each pack.
/// REQUIRES: num_packs ≥ 1.
/// SOURCE: tensorflow/python/distribute/cross_device_ops.py, ConcatAndSplitPacker.
std::vector<std::int64_t> concat_and_split(std::int64_t total_elements, std::int64_t num_packs);

/// Implements num_packs of TensorFlow 2.1's CollectiveAllReduce: divides the list of tensors into
/// chunks of floor(tensors / num_packs) tensors. The remainder is added to the last chunk. If there
/// are fewer tensors than packs, all tensors are in one chunk. Returns the number of tensors of
/// each chunk. SOURCE: tensorflow/python/distribute/cross_device_ops.py of TensorFlow 2.1.
std::vector<std::int64_t> chunk_by_count(std::int64_t tensors, std::int64_t num_packs);

}  // namespace tutti::core
