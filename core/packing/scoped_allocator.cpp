#include "core/packing/scoped_allocator.h"

namespace tutti::core {

ScopedLayout scoped_layout(std::span<const Bytes> sizes, Bytes alignment) {
  ScopedLayout layout;
  for (const Bytes size : sizes) {
    layout.offsets.push_back(layout.total);
    const std::int64_t units = (size.count() + alignment.count() - 1) / alignment.count();
    layout.total += units * alignment;
  }
  return layout;
}

}  // namespace tutti::core
