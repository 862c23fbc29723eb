#pragma once

#include "core/nccl/communicator.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Of a communicator of `ranks` ranks with `channels` channels for collectives, of which each node
/// is like `node`: so many channels to a peer that its NVLinks are filled, two to another in the
/// node, and over the network what a GPU's cards need, less in large communicators (before 2.20
/// two, before 2.12 one). What goes to another node leaves since 2.12 beside the card on the
/// receiver's rail if NVLink reaches that (NCCL_P2P_PXN_LEVEL 2, the default). SOURCE: NVIDIA/nccl
/// v2.28.9 src/graph/paths.cc, ncclTopoComputeP2pChannels, ncclTopoPathAllNVLink;
/// src/graph/search.cc, ncclTopoGetNetDev.
PointToPoint point_to_point(const Topology& node, const SearchSettings& settings, int ranks,
                            int channels, Version version = kDefaultVersion);

/// The same of machines that are all alike, by counting: GPUs share out the cards of their node in
/// order, and hang on PCIe switches.
PointToPoint point_to_point(const System& system, const Settings& settings, int channels,
                            Version version);

}  // namespace tutti::core::nccl
