#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// CommunicationOptions.bytes_per_pack: walks `sizes` in order and opens a new pack when the
/// current pack already holds MORE than `bytes_per_pack`. So every closed pack is larger than the
/// limit, a pack of exactly the limit takes one more, and a large gradient may overshoot without
/// bound. 0, or a size that is not known (a shape that is not static): one pack of everything.
/// Gradients are never split. Answers indices into `sizes`, pack by pack. (TensorFlow hands the
/// gradients over last-created first.) SOURCE: tensorflow/python/distribute/cross_device_utils.py,
/// pack_by_size / group_by_size.
std::vector<std::vector<int>> pack_by_bytes(std::span<const std::optional<Bytes>> sizes,
                                            Bytes bytes_per_pack);

}  // namespace tutti::core
