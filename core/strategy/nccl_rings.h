#pragma once

// Represents collectives of NCCL by rings, one per channel, with the parameters of NCCL 2.28.9 for
// the protocol Simple. Simulations with run { nccl: RINGS } and real runs use the rings of this
// file.
// SOURCE: NVIDIA/nccl src/include/device.h, src/enqueue.cc. The buffer of a connection has 4 MiB,
// divided into 8 slots. A slice of a ring takes 2 slots, and a chunk of a broadcast takes 1.

#include <cstdint>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/base/data_type.h"
#include "core/cluster/cluster.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

inline constexpr Bytes kNcclBroadcastChunk{512 << 10};
inline constexpr int kNcclBroadcastCredits = 8;

/// Returns a path through the replicas of a worker, in the order of their indices, that starts at
/// replica `by` and wraps around.
RingPath rotated_path(std::int32_t per_worker, std::int32_t by);

/// If all GPUs of every worker participate, returns NCCL's channels with the rings of the machine
/// file; otherwise returns an empty list. NCCL uses each ring of its search for several channels.
/// The first channels all have different rings, so that even few channels use several network
/// cards.
/// SOURCE: NVIDIA/nccl src/graph/connect.cc, ncclTopoPostset ("Duplicate ringPrev/ringNext").
std::vector<RingPath> known_nccl_channels(const Cluster& cluster, std::int32_t per_worker,
                                          bool across_workers);

/// Returns the ring of each channel. The rings of the machine file are used if all GPUs of the
/// machine participate and the file has rings, and otherwise the rings of the strategy
/// (Strategy::nccl_rings). If the strategy has none either, the ring of channel c begins at GPU c
/// and follows the order of indices. With different first GPUs, channels enter and leave workers at
/// different GPUs, and therefore use different network cards.
std::vector<RingPath> nccl_channels(const Cluster& cluster, const Strategy& strategy,
                                    std::int32_t per_worker, bool across_workers);

/// Returns the options of the rings for a collective of `elements` elements: the channels that are
/// used, and the maximum size of a slice. As in NCCL, a small collective uses only some of the
/// channels.
RingOptions nccl_rings(std::vector<RingPath> channels, const Strategy& strategy, DataType type,
                       std::int64_t elements);

}  // namespace tutti::core
