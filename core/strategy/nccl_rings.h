#pragma once

// Represents NCCL's collectives as rings over its channels, with the parameters of NCCL 2.28.9 for
// the Simple protocol. The simulator (with run { nccl: RINGS }) and real runs use these rings.
// SOURCE: NVIDIA/nccl src/include/device.h, src/enqueue.cc. The buffer of a connection has 4 MiB
// and 8 slots. A slice of a ring uses 2 slots, and a chunk of a broadcast uses 1 slot.

#include <cstdint>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/base/data_type.h"
#include "core/cluster/cluster.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

inline constexpr Bytes kNcclBroadcastChunk{512 << 10};
inline constexpr int kNcclBroadcastCredits = 8;

/// Returns the ring through the replicas of a worker in index order that starts at replica `by`.
RingPath rotated_path(std::int32_t per_worker, std::int32_t by);

/// Returns the channels that use the rings of the machine's file, if all GPUs of every worker
/// participate; otherwise returns an empty list. NCCL uses each ring that its search has found for
/// several channels. The first channels all use different rings, so that even a few channels use
/// several network cards.
/// SOURCE: NVIDIA/nccl src/graph/connect.cc, ncclTopoPostset ("Duplicate ringPrev/ringNext").
std::vector<RingPath> known_nccl_channels(const Cluster& cluster, std::int32_t per_worker,
                                          bool across_workers);

/// Returns one ring per channel. If all GPUs of the machine participate, returns the machine's
/// rings. If only some GPUs participate, the ring of channel c is in index order and begins at GPU
/// c. Channels thus enter and leave workers at different GPUs, and therefore through different
/// network cards.
std::vector<RingPath> nccl_channels(const Cluster& cluster, const Strategy& strategy,
                                    std::int32_t per_worker, bool across_workers);

/// Returns the rings for the strategy's collective on `elements` elements, cut into slices. A small
/// collective uses only some of the channels, as in NCCL.
RingOptions nccl_rings(std::vector<RingPath> channels, const Strategy& strategy, DataType type,
                       std::int64_t elements);

}  // namespace tutti::core
