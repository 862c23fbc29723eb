#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti::core::custom {

/// The division of a buffer into chunks of nearly equal size. If the collective has blocks, the
/// buffer consists of one block per rank, and each block is divided into the same number of chunks.
struct ChunkCut {
  /// `of` is the number of elements; `into` is the number of chunks.
  /// REQUIRES: both are multiples of `blocks`.
  ChunkCut(std::int64_t of, std::int64_t into, std::int64_t blocks)
      : elements(of),
        block(of / blocks),
        chunks(into),
        per_block(into / blocks),
        each(block / per_block),
        longer(block % per_block) {}

  std::int64_t elements;
  std::int64_t block;
  std::int64_t chunks;
  std::int64_t per_block;
  std::int64_t each;
  std::int64_t longer;  ///< number of chunks per block that have one element more than the others;
                        ///< they are the block's first chunks

  [[nodiscard]] bool even() const { return longer == 0; }
  [[nodiscard]] std::int64_t longest() const { return each + (longer > 0 ? 1 : 0); }
  /// Returns the offset of a chunk in elements. offset(chunks) is the end of the buffer.
  [[nodiscard]] std::int64_t offset(std::int64_t chunk) const {
    if (longer == 0) return chunk * each;
    const std::int64_t in_block = per_block == chunks ? chunk : chunk % per_block;
    const std::int64_t begin = per_block == chunks ? 0 : chunk / per_block * block;
    return begin + in_block * each + std::min(in_block, longer);
  }
};

}  // namespace tutti::core::custom
