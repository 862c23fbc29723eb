#pragma once

#include <span>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// The offsets at which TensorFlow's ScopedAllocator places the tensors of a merged collective, and
/// the size of the buffer. The gaps between tensors are communicated too.
struct ScopedLayout {
  std::vector<Bytes> offsets;
  Bytes total;
};

/// Places tensors one after the other, each at a multiple of `alignment`.
/// SOURCE: tensorflow/core/common_runtime/scoped_allocator_mgr.cc; its test implies an alignment of
/// 64.
ScopedLayout scoped_layout(std::span<const Bytes> sizes, Bytes alignment = Bytes(64));

}  // namespace tutti::core
