#pragma once

#include <cstdint>

#include "core/schedule/step.h"

namespace tutti::core {

/// How much of each block travels, where blocks are buffers that need not be full: experts' slots in an all-to-all.
class BlockSizes {
 public:
  virtual ~BlockSizes() = default;
  /// Elements that `from` gives `to`, the first of the block. Never more than a block has.
  [[nodiscard]] virtual std::int64_t of(Rank from, Rank to) const = 0;

 protected:
  BlockSizes() = default;
  BlockSizes(const BlockSizes&) = default;
  BlockSizes& operator=(const BlockSizes&) = default;
};

}  // namespace tutti::core
