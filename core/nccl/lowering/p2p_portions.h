#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nccl/communicator.h"

namespace tutti::core::nccl {

/// NCCL's division of a message between two ranks into parts (one per channel) and chunks.
struct P2pPortions {
  int parts = 1;           ///< number of parts, each on its own channel
  std::int64_t chunk = 1;  ///< size of a chunk (the bytes that are sent at once), except in the
                           ///< last part
  bool ll = false;         ///< true: protocol LL; false: protocol Simple
  /// The size in bytes of every part except the last. The last part has the remainder and may be
  /// empty.
  std::int64_t part = 0;
  /// The chunk size of the last part. Before 2.22, this size can differ from `chunk`, because NCCL
  /// computes it from the size of the last part.
  std::int64_t last_chunk = 1;

  /// A range [begin, end) of a message's bytes.
  struct Bounds {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] Bounds bounds(std::int64_t bytes, int number) const {
    return {std::min(bytes, number * part), std::min(bytes, (number + 1) * part)};
  }
};

/// Returns the division of a message of `bytes` bytes. `far` is true if the two ranks are in
/// different nodes. `self` is true if a rank sends the message to itself. Parts are multiples of 4
/// KiB. In 2.20 and 2.21, parts are multiples of half a chunk if there are several nodes, and
/// multiples of an eighth of a chunk if there is one node. In 2.13 to 2.19, parts are multiples of
/// an eighth of a chunk. Before 2.13, parts are multiples of one slot of the buffer (in 2.7: of
/// four slots), and a chunk is a quarter of a slot.
/// REQUIRES: NCCL 2.7 or later.
/// SOURCE: NVIDIA/nccl v2.28.9 src/enqueue.cc, scheduleP2pTasksToPlan, addP2pToPlan; src/init.cc,
/// computeBuffSizes; v2.21.5 and v2.13.4 src/enqueue.cc, calcP2pChunkSize, src/proxy.cc,
/// ncclProxyComputeP2p; v2.12.12, v2.8.4 and v2.7.8 src/group.cc, getP2pChunkSize, ncclGroupEnd;
/// v2.7.8 src/collectives/device/sendrecv.h.
P2pPortions p2p_portions(const Communicator& communicator, std::int64_t bytes, bool far, bool self);

}  // namespace tutti::core::nccl
