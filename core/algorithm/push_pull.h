#pragma once

// The transfers of BytePS between a worker's GPUs, its CPU and a server. Inside a worker, a
// partition is divided equally among the GPUs; the last GPU also has the remainder. SOURCE:
// byteps/common/core_loops.cc, PostNcclCalls, RunCopyDevice2HostLoopOnce, CopyHost2Device,
// RunPushLoopOnce, RunPullLoopOnce; byteps/server/server.cc, BytePSHandler,
// BytePSServerEngineThread.

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the share of replica `r`: the range of elements that this replica exchanges with the
/// host, if `replicas` replicas divide `elements` elements among themselves.
Range share_of(std::int32_t replicas, std::int64_t elements, Rank r);

/// BytePS's stage COPYD2H: every replica sends its share to the host, which is rank `replicas`. The
/// shares add up to N bytes. Time with one port: α + ⌈N·β⌉, where α is the latency of a message,
/// and β is the time to send a byte.
std::unique_ptr<Schedule> shares_to_host(std::int32_t replicas, std::int64_t elements,
                                         Engine replica_engine);
/// BytePS's stage COPYH2D: the host sends every replica its share.
std::unique_ptr<Schedule> shares_from_host(std::int32_t replicas, std::int64_t elements,
                                           Engine replica_engine);

/// BytePS's stage PUSH: ranks 0 … senders - 1 send their data to the root. The root acknowledges
/// each message when it arrives, and adds the data in the order of ranks. The root may be one of
/// the senders. Time with one port per rank, W senders other than the root, and N bytes: the root
/// has received all pushes after α + W⌈N·β⌉. If ⌈N·γ⌉, the time to add N bytes, is at most ⌈N·β⌉,
/// the sum is complete ⌈N·γ⌉ after the arrival of the last push.
std::unique_ptr<Schedule> push_to_server(std::int32_t ranks, std::int32_t senders, Rank root,
                                         std::int64_t elements, Engine sender_engine);
/// BytePS's stage PULL: ranks 0 … askers - 1 request the root's data and receive it. Time with one
/// port per rank: 2α + W⌈N·β⌉, where W is the number of requesting ranks other than the root.
std::unique_ptr<Schedule> pull_from_server(std::int32_t ranks, std::int32_t askers, Rank root,
                                           std::int64_t elements, Engine asker_engine);

}  // namespace tutti::core
