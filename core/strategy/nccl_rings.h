#pragma once

// NCCL as rings over its channels, by the figures of NCCL 2.28.9 for the Simple protocol: what run { nccl: RINGS } simulates and a run carries out.
// SOURCE: NVIDIA/nccl src/include/device.h, src/enqueue.cc. A connection's buffer of 4 MiB has 8 slots; a ring slice is 2 slots, a broadcast chunk 1.

#include <cstdint>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/base/data_type.h"
#include "core/cluster/cluster.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

inline constexpr Bytes kNcclBroadcastChunk{512 << 10};
inline constexpr int kNcclBroadcastCredits = 8;

/// The replicas of a worker in index order, the first of them `by` further on.
RingPath rotated_path(std::int32_t per_worker, std::int32_t by);

/// The channels that the machine's file has rings for, if all GPUs of every worker take part; else none. NCCL searches
/// rings, and then uses each a second time: the first channels are one of every ring, so that few of them already leave
/// by several network cards.
/// SOURCE: NVIDIA/nccl src/graph/connect.cc, ncclTopoPostset ("Duplicate ringPrev/ringNext").
std::vector<RingPath> known_nccl_channels(const Cluster& cluster, std::int32_t per_worker, bool across_workers);

/// One ring per channel: those of the machine if all its GPUs take part, else in index order, channel c starting at
/// GPU c, so that channels leave and enter workers at different GPUs and so at different network cards.
std::vector<RingPath> nccl_channels(const Cluster& cluster, const Strategy& strategy, std::int32_t per_worker,
                                    bool across_workers);

/// As many of the channels as the strategy's collective on `elements` is worth, in slices.
RingOptions nccl_rings(std::vector<RingPath> channels, const Strategy& strategy, DataType type, std::int64_t elements);

}  // namespace tutti::core
