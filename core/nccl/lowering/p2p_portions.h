#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nccl/communicator.h"

namespace tutti::core::nccl {

/// The chunk sizes of a message between two ranks.
struct P2pPortions {
  int parts = 1;           ///< number of parts, each on its own channel
  std::int64_t chunk = 1;  ///< bytes sent at once
  bool ll = false;         ///< true: LL; false: Simple
  /// Bytes of every part but the last, which has the remainder and may be empty.
  std::int64_t part = 0;
  /// The chunk of the last part; before 2.22 it depends on that part's size.
  std::int64_t last_chunk = 1;

  /// The range of bytes [begin, end) of part `part` of a message of `bytes`.
  struct Bounds {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] Bounds bounds(std::int64_t bytes, int number) const {
    return {std::min(bytes, number * part), std::min(bytes, (number + 1) * part)};
  }
};

/// Returns the sizes for a message of `bytes` to or from a rank of another node (`far`), of this
/// node, or of a rank to itself. Parts are multiples of 4 KiB; before 2.22 multiples of half a
/// chunk (one node, and before 2.20: of an eighth); before 2.13 multiples of a slot of the buffer,
/// in 2.7 of four slots, and chunks are quarters of a slot. REQUIRES: 2.7 or later. SOURCE:
/// NVIDIA/nccl v2.28.9 src/enqueue.cc, scheduleP2pTasksToPlan, addP2pToPlan; src/init.cc,
/// computeBuffSizes; v2.21.5 and v2.13.4 src/enqueue.cc, calcP2pChunkSize, src/proxy.cc,
/// ncclProxyComputeP2p; v2.12.12, v2.8.4 and v2.7.8 src/group.cc, getP2pChunkSize, ncclGroupEnd;
/// v2.7.8 src/collectives/device/sendrecv.h.
P2pPortions p2p_portions(const Communicator& communicator, std::int64_t bytes, bool far, bool self);

}  // namespace tutti::core::nccl
