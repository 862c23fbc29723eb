#pragma once

// Declarations that the source files of this folder share. No other code includes this header.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/connect.h"
#include "core/nccl/lowering/channel_loops.h"
#include "core/nccl/lowering/lower.h"
#include "core/nccl/lowering/pat_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core::nccl {

std::shared_ptr<const Schedule> lowered_ring(const Communicator& communicator, CollectiveKind kind,
                                             Rank root, std::int64_t elements,
                                             std::vector<ChannelLoops> channels);
/// `divided` is true if a channel's threads are divided: some reduce up the tree while the others
/// broadcast down the tree.
std::shared_ptr<const Schedule> lowered_tree(const Communicator& communicator, bool divided,
                                             std::vector<ChannelLoops> channels);
std::shared_ptr<const Schedule> lowered_nvls(const Communicator& communicator,
                                             std::vector<ChannelLoops> channels);
std::shared_ptr<const Schedule> lowered_nvls_blocks(const Communicator& communicator,
                                                    CollectiveKind kind, std::int64_t elements,
                                                    std::vector<ChannelLoops> channels);
std::shared_ptr<const Schedule> lowered_collnet(const Communicator& communicator, bool chain,
                                                std::vector<ChannelLoops> channels);
/// Returns an NVLS all-reduce over several nodes, through a reducing network.
std::shared_ptr<const Schedule> lowered_nvls_sharp(const Communicator& communicator,
                                                   std::vector<ChannelLoops> channels);
/// Returns an all-gather or reduce-scatter through a reducing network, with NVLS if `nvls` is true,
/// otherwise with CollNetDirect. REQUIRES: every GPU is a head; each channel's part covers the
/// blocks of one rail, which are the blocks of the heads with the same index in all nodes.
std::shared_ptr<const Schedule> lowered_collnet_blocks(const Communicator& communicator,
                                                       CollectiveKind kind, bool nvls,
                                                       std::int64_t elements,
                                                       std::vector<ChannelLoops> channels);
/// Returns step `index` of the lane (sequence of steps) on which the GPUs of a node signal to each
/// other that their data is available.
Step signal(const RankSet& node, Lane lane, std::int64_t index);
/// `orders` has one entry per channel.
std::shared_ptr<const Schedule> lowered_pat(const Communicator& communicator, CollectiveKind kind,
                                            std::int64_t elements,
                                            const std::vector<ChannelLoops>& channels,
                                            const std::vector<PatOrder>& orders);
std::shared_ptr<const Schedule> lowered_sends(const Communicator& communicator,
                                              const LoweringRequest& request);

inline std::int64_t children(const TreePlace& place) {
  return std::count_if(place.down.begin(), place.down.end(), [](int child) { return child >= 0; });
}

}  // namespace tutti::core::nccl
