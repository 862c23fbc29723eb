#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nccl/lowering/channel_split.h"
#include "core/nccl/lowering/chunks.h"
#include "core/schedule/step.h"

namespace tutti::core::nccl {

/// The loops in which a channel processes its data. Each loop handles `pieces` chunks. A loop has
/// one chunk per rank of a ring, one chunk per NVLS head (a GPU that reduces a part of the data),
/// or a single chunk. Since 2.20, each channel has its own part of the data. Before 2.20, all
/// channels share the data, and a loop covers `pieces` chunks for each of the `turns` channels.
struct ChannelLoops {
  /// The channel's range of the buffer or, for collectives with blocks, of every block. If channels
  /// share the data, `part` is the whole range.
  ChannelPart part;
  Chunks chunks;
  int pieces = 1;
  int turns = 1;  ///< number of channels that share the data; `turn` is the index of this channel
  int turn = 0;
  /// The layout of a loop if channels share the data. If true, the chunks with the same index on
  /// all channels are adjacent; if false, all chunks of one channel are adjacent.
  bool side_by_side = false;
  /// If true, the last, incomplete loop divides its elements evenly into chunks that are multiples
  /// of `granule`; chunks after the end are empty. If false, the last loop has chunks of full size
  /// until no elements remain.
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
