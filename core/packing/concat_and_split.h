#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// num_packs: all gradients of a device are concatenated and cut into `num_packs` packs of
/// floor(total / num_packs) elements; the last takes the remainder. Gradients' borders are ignored;
/// with more packs than elements the first ones are empty. Returns the elements per pack. REQUIRES:
/// num_packs ≥ 1. SOURCE: tensorflow/python/distribute/cross_device_ops.py, ConcatAndSplitPacker.
std::vector<std::int64_t> concat_and_split(std::int64_t total_elements, std::int64_t num_packs);

/// num_packs of TensorFlow 2.1's CollectiveAllReduce, which counts tensors: floor(tensors /
/// num_packs) per chunk, the last takes the remainder; a single chunk if there are fewer tensors
/// than packs. Returns the tensors per chunk. SOURCE: cross_device_ops.py of that release (index id
/// 213084624).
std::vector<std::int64_t> chunk_by_count(std::int64_t tensors, std::int64_t num_packs);

}  // namespace tutti::core
