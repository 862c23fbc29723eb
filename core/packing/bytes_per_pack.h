#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Implements CommunicationOptions.bytes_per_pack. Gradients are added in the order of `sizes`; a
/// new pack is opened when the current pack already has MORE than `bytes_per_pack` bytes. Every
/// pack except the last is thus larger than the limit. A pack of exactly the limit gets one more
/// gradient. A pack with a large gradient may exceed the limit by any amount. Gradients are not
/// split. If `bytes_per_pack` is 0, or a size is not known (because a shape is not static), all
/// gradients are in one pack.
///
/// Returns, for each pack, indices into `sizes`. (TensorFlow passes gradients in reverse order of
/// creation.) SOURCE: tensorflow/python/distribute/cross_device_utils.py, pack_by_size /
/// group_by_size.
std::vector<std::vector<int>> pack_by_bytes(std::span<const std::optional<Bytes>> sizes,
                                            Bytes bytes_per_pack);

}  // namespace tutti::core
