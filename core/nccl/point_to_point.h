#pragma once

#include "core/nccl/communicator.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the transport of sends and receives in a communicator of `ranks` ranks with `channels`
/// channels for collectives and nodes like `node`: within a node, enough channels per peer to fill
/// its NVLinks, two to other peers; over the network as many as a GPU's cards need, fewer in large
/// communicators (before 2.20 two, before 2.12 one). Since 2.12 a message to another node leaves at
/// the card on the receiver's rail if NVLink leads to that card's GPU (NCCL_P2P_PXN_LEVEL 2, the
/// default). SOURCE: NVIDIA/nccl v2.28.9 src/graph/paths.cc, ncclTopoComputeP2pChannels,
/// ncclTopoPathAllNVLink; src/graph/search.cc, ncclTopoGetNetDev.
PointToPoint point_to_point(const Topology& node, const SearchSettings& settings, int ranks,
                            int channels, Version version = kDefaultVersion);

/// Returns the same for identical machines, by formulas: the GPUs of a node share its cards in
/// order and are attached to PCIe switches.
PointToPoint point_to_point(const System& system, const Settings& settings, int channels,
                            Version version);

}  // namespace tutti::core::nccl
