#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nccl/lowering/channel_split.h"
#include "core/nccl/lowering/chunks.h"
#include "core/schedule/step.h"

namespace tutti::core::nccl {

/// The loops of a channel, and the sizes of their chunks. A loop has `pieces` chunks: one for each
/// rank of a ring, one for each head of NVLS, or a single one. Since 2.20 each channel has its own
/// part; before, all channels share everything and take turns.
struct ChannelLoops {
  ChannelPart part;  ///< part of the buffer, or of every block; the whole if channels take turns
  Chunks chunks;
  int pieces = 1;
  int turns = 1;  ///< number of channels that take turns; `turn` is the index of this one
  int turn = 0;
  /// Chunks with the same index on all channels are adjacent, instead of all chunks of one channel.
  bool side_by_side = false;
  /// The last, incomplete loop divides its elements evenly, in multiples of `granule`; chunks after
  /// the end are empty. Otherwise its chunks are full as far as elements remain.
  bool shares_last = false;
  std::int64_t granule = 1;

  [[nodiscard]] std::int64_t of_loop() const { return chunks.chunk * pieces * turns; }
  [[nodiscard]] std::int64_t loops() const { return (part.count + of_loop() - 1) / of_loop(); }
  [[nodiscard]] Range at(std::int64_t loop, std::int64_t piece) const {
    const std::int64_t begin = loop * of_loop();
    const std::int64_t left = part.count - begin;
    const std::int64_t sharers = std::int64_t{pieces} * turns;
    std::int64_t chunk = chunks.chunk;
    if (shares_last && left < of_loop())
      chunk = ((left + sharers - 1) / sharers + granule - 1) / granule * granule;
    const std::int64_t place =
        side_by_side ? piece * turns + turn : turn * std::int64_t{pieces} + piece;
    const std::int64_t offset = std::min(left, place * chunk);
    return {Buffer::kData, part.offset + begin + offset, std::min(chunk, left - offset)};
  }
};

}  // namespace tutti::core::nccl
