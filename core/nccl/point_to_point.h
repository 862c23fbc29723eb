#pragma once

#include "core/nccl/communicator.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the channels and routes of sends and receives in a communicator of `ranks` ranks. The
/// communicator has `channels` channels for collectives, and all its nodes have the topology
/// `node`.
///
/// NCCL computes a number of channels for each peer, and uses the minimum of these numbers for all
/// peers. For a peer in the same node, the number is two per NVLink to the peer, or two if no
/// NVLink leads to the peer. For a peer in another node, the number is the number of network ports
/// whose rates together fill the GPU's PCIe link, but at least two (in large communicators, at
/// least one). In 2.12 to 2.19, the number for a peer in another node is always two; before 2.12,
/// it is one.
///
/// Since 2.12, a message to another node leaves through the card on the receiver's rail if NVLink
/// connects the sender to the GPU of that card (NCCL_P2P_PXN_LEVEL 2, the default).
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/paths.cc, ncclTopoComputeP2pChannels,
/// ncclTopoPathAllNVLink; src/graph/search.cc, ncclTopoGetNetDev.
PointToPoint point_to_point(const Topology& node, const SearchSettings& settings, int ranks,
                            int channels, Version version = kDefaultVersion);

/// Returns the channels and routes for machines without a topology, by formulas. GPUs are assumed
/// to be attached to PCIe switches. Each card of a node is assumed to be shared by GPUs with
/// consecutive indices.
PointToPoint point_to_point(const System& system, const Settings& settings, int channels,
                            Version version);

}  // namespace tutti::core::nccl
