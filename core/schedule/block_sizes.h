#pragma once

#include <cstdint>

#include "core/schedule/step.h"

namespace tutti::core {

/// The number of elements that an all-to-all sends in each block, if blocks need not be full, such
/// as the slots of experts.
class BlockSizes {
 public:
  virtual ~BlockSizes() = default;
  /// Returns the number of elements that `from` sends to `to`, at most the size of a block. These
  /// are the first elements of the block.
  [[nodiscard]] virtual std::int64_t of(Rank from, Rank to) const = 0;

 protected:
  BlockSizes() = default;
  BlockSizes(const BlockSizes&) = default;
  BlockSizes& operator=(const BlockSizes&) = default;
};

}  // namespace tutti::core
