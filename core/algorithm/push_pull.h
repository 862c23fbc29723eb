#pragma once

// What BytePS's tasks do between a worker's GPUs, its CPU and a server. Inside a worker every GPU has a share of a partition: as many
// elements as the others, and the last one what is left over besides.
// SOURCE: byteps/common/core_loops.cc, PostNcclCalls, RunCopyDevice2HostLoopOnce, CopyHost2Device, RunPushLoopOnce, RunPullLoopOnce;
// byteps/server/server.cc, BytePSHandler, BytePSServerEngineThread.

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The share of replica `r` of `replicas`.
Range share_of(std::int32_t replicas, std::int64_t elements, Rank r);

/// COPYD2H: every replica's share comes to the host, rank `replicas`. Time with one port: α + ⌈N·β⌉, all shares together N bytes.
std::unique_ptr<Schedule> shares_to_host(std::int32_t replicas, std::int64_t elements, Engine replica_engine);
/// COPYH2D: and back.
std::unique_ptr<Schedule> shares_from_host(std::int32_t replicas, std::int64_t elements, Engine replica_engine);

/// PUSH: ranks 0 … senders - 1 of `ranks` send their data to the root, which says at once that it has come, and adds it to what has come
/// from those before, in the order of ranks. The root may be one of them.
/// Time with one port per rank, W senders that are not the root, N bytes: the root has everything after α + W⌈N·β⌉, and the sum ⌈N·γ⌉
/// later if ⌈N·γ⌉ is no more than ⌈N·β⌉.
std::unique_ptr<Schedule> push_to_server(std::int32_t ranks, std::int32_t senders, Rank root, std::int64_t elements,
                                         Engine sender_engine);
/// PULL: each of them asks the root for its data, and gets it. Time, likewise: 2α + W⌈N·β⌉.
std::unique_ptr<Schedule> pull_from_server(std::int32_t ranks, std::int32_t askers, Rank root, std::int64_t elements,
                                           Engine asker_engine);

}  // namespace tutti::core
