#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Implements CommunicationOptions.bytes_per_pack. Gradients are added in the order of `sizes`. A
/// new pack begins when the current pack already has MORE than `bytes_per_pack` bytes. Every pack
/// except the last is therefore larger than the limit. A pack of exactly `bytes_per_pack` bytes
/// gets one more gradient. A pack with a large gradient may exceed the limit by any amount.
/// Gradients are not split. If `bytes_per_pack` is 0, or if the size of a gradient is unknown (its
/// shape is not static), all gradients are in one pack.
///
/// Returns, for each pack, the indices of its gradients in `sizes`. (TensorFlow passes gradients in
/// reverse order of creation.) SOURCE: tensorflow/python/distribute/cross_device_utils.py,
/// pack_by_size / group_by_size.
std::vector<std::vector<int>> pack_by_bytes(std::span<const std::optional<Bytes>> sizes,
                                            Bytes bytes_per_pack);

}  // namespace tutti::core
