#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nccl/lowering/channel_split.h"
#include "core/nccl/lowering/chunks.h"
#include "core/schedule/step.h"

namespace tutti::core::nccl {

/// What a channel goes through, in which portions. A loop has `pieces` chunks: one for every rank
/// of a ring, every head of NVLS, or one. Since 2.20 a channel has a part of its own; before, all
/// channels go through everything and take turns.
struct ChannelLoops {
  ChannelPart part;  ///< of the buffer, or of every block; all of it if channels take turns
  Chunks chunks;
  int pieces = 1;
  int turns = 1;  ///< channels that take turns, of which this one's is `turn`
  int turn = 0;
  /// Chunks of one number of all channels lie next to each other, and not all chunks of one
  /// channel.
  bool side_by_side = false;
  /// A loop that is not full shares out what is left evenly, in whole `granule` elements: what is
  /// behind the end is empty. Else its chunks are full as far as there is something.
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
