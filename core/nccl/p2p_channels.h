#pragma once

#include "core/nccl/search_settings.h"
#include "core/nccl/topology.h"

namespace tutti::core::nccl {

/// The channels of sends and receives.
struct P2pChannels {
  int channels = 1;  ///< in all: a power of two
  int per_peer = 1;  ///< of which so many go to one rank
};

/// Those of a communicator of `ranks` ranks with `channels` channels for collectives, of which each node is like `node`: so many to a peer that
/// its NVLinks are filled, two to another in the node, and over the network what a GPU's cards need, less in large communicators.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/paths.cc, ncclTopoComputeP2pChannels.
P2pChannels p2p_channels(const Topology& node, const SearchSettings& settings, int ranks, int channels);

}  // namespace tutti::core::nccl
