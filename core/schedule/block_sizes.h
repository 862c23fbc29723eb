#pragma once

#include <cstdint>

#include "core/schedule/step.h"

namespace tutti::core {

/// The number of elements to send in each block, if blocks are buffers that need not be full: the
/// expert slots of an all-to-all.
class BlockSizes {
 public:
  virtual ~BlockSizes() = default;
  /// Returns how many elements `from` sends to `to`: the first ones of the block, at most the whole
  /// block.
  [[nodiscard]] virtual std::int64_t of(Rank from, Rank to) const = 0;

 protected:
  BlockSizes() = default;
  BlockSizes(const BlockSizes&) = default;
  BlockSizes& operator=(const BlockSizes&) = default;
};

}  // namespace tutti::core
