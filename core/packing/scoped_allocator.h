#pragma once

#include <span>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// The layout that TensorFlow's ScopedAllocator gives to the buffer of a merged collective: the
/// offset of each tensor, and the size of the buffer. The gaps between tensors are sent too.
struct ScopedLayout {
  std::vector<Bytes> offsets;
  Bytes total;
};

/// Places the tensors one after the other, at offsets that are multiples of `alignment`.
/// SOURCE: tensorflow/core/common_runtime/scoped_allocator_mgr.cc; its test implies an alignment of
/// 64.
ScopedLayout scoped_layout(std::span<const Bytes> sizes, Bytes alignment = Bytes(64));

}  // namespace tutti::core
