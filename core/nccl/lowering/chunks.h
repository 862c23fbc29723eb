#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/lowering/connection.h"
#include "core/nccl/names.h"

namespace tutti::core::nccl {

/// In which portions a channel moves its part, in elements, and how many of them a connection
/// holds.
struct Chunks {
  std::int64_t chunk = 1;  ///< what one primitive moves at most
  std::int64_t slice = 1;  ///< of it what is sent at once; a chunk is one slice or two
  int slots = kSlots;      ///< slices

  bool operator==(const Chunks&) const = default;
};

/// GPUs of a node that own a share of what NVLS adds.
int heads_of(const Communicator& communicator);

/// GPUs of a node that let the network add (CollNetDirect), in their order. REQUIRES: the graph has
/// its orders.
std::vector<int> collnet_heads(const Communicator& communicator);

/// For a channel that does `part_bytes`, of blocks those of all ranks. Of collectives that NVLS
/// does `part_bytes` times the heads are what a channel is compared with. Before 2.22 `part_bytes`
/// are a channel's even share of all bytes. SOURCE: NVIDIA/nccl v2.28.9 src/enqueue.cc,
/// calcCollChunking; v2.21.5, computeCollChunkInfo; v2.19.4, computeColl;
/// src/device/prims_simple.h; src/include/device.h (NCCL_STEPS, *_CHUNKSTEPS, *_SLICESTEPS).
Chunks chunks_of(const Communicator& communicator, Function function, Algorithm algorithm,
                 Protocol protocol, std::int64_t part_bytes, std::int64_t element_bytes);

}  // namespace tutti::core::nccl
