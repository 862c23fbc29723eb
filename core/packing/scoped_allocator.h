#pragma once

#include <span>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Computes where the ScopedAllocator places the tensors of a merged collective: next to each
/// other, each at a multiple of `alignment`. The gaps are part of what travels.
struct ScopedLayout {
  std::vector<Bytes> offsets;
  Bytes total;
};

/// SOURCE: tensorflow/core/common_runtime/scoped_allocator_mgr.cc; alignment 64 as its test
/// implies.
ScopedLayout scoped_layout(std::span<const Bytes> sizes, Bytes alignment = Bytes(64));

}  // namespace tutti::core
