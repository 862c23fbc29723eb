#pragma once

#include <cstdint>

#include "core/schedule/step.h"

namespace tutti::core {

/// The number of elements in each block of an all-to-all whose blocks may be partly filled.
/// Example: in a mixture of experts, an expert may get fewer tokens than its block can hold.
class BlockSizes {
 public:
  virtual ~BlockSizes() = default;
  /// Returns the number of elements that `from` sends to `to`, at most the size of a block. The
  /// elements that are sent are the first elements of the block.
  [[nodiscard]] virtual std::int64_t of(Rank from, Rank to) const = 0;

 protected:
  BlockSizes() = default;
  BlockSizes(const BlockSizes&) = default;
  BlockSizes& operator=(const BlockSizes&) = default;
};

}  // namespace tutti::core
