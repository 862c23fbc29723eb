#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/lowering/connection.h"
#include "core/nccl/names.h"

namespace tutti::core::nccl {

/// The chunk size and slice size of a channel, in elements, and the capacity of a connection's
/// buffer in slices.
struct Chunks {
  std::int64_t chunk = 1;  ///< maximum number of elements that one call of a device primitive
                           ///< processes
  std::int64_t slice = 1;  ///< number of elements sent at once; a chunk has one or two slices
  int slots = kSlots;      ///< number of slices that fit into a connection's buffer

  bool operator==(const Chunks&) const = default;
};

/// Returns the number of NVLS heads. The heads are the GPUs of a node that each reduce a part of
/// the data.
int heads_of(const Communicator& communicator);

/// Returns the heads of CollNetDirect, in order: the GPUs of a node that send data to the reducing
/// network.
/// REQUIRES: the graph contains the orders of GPUs.
std::vector<int> collnet_heads(const Communicator& communicator);

/// Returns the chunk sizes of a channel that processes `part_bytes` bytes. For collectives with
/// blocks, `part_bytes` includes the blocks of all ranks. Before 2.22, `part_bytes` is a channel's
/// equal share of all bytes.
/// SOURCE: NVIDIA/nccl v2.28.9 src/enqueue.cc, calcCollChunking; v2.21.5, computeCollChunkInfo;
/// v2.19.4, computeColl; src/device/prims_simple.h; src/include/device.h (NCCL_STEPS, *_CHUNKSTEPS,
/// *_SLICESTEPS).
Chunks chunks_of(const Communicator& communicator, Function function, Algorithm algorithm,
                 Protocol protocol, std::int64_t part_bytes, std::int64_t element_bytes);

}  // namespace tutti::core::nccl
