#pragma once

#include <string>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Networks that reduce: CollNet is NCCL's name for what a plugin offers, SHARP the only network
/// known to do it.

/// Why what joins the machines cannot add by SHARP's streaming aggregation, which CollNet takes;
/// empty if it can, given switches and a plugin for it. SOURCE: NVIDIA SHARP 3.9, "Using NVIDIA
/// SHARP with NVIDIA NCCL": ConnectX-6 HDR and above, Quantum HDR switches and above.
std::string why_no_sharp(const System& system);

/// Whether cards of that rate (GB/s) come with switches that add bfloat16 and 8-bit integers:
/// SHARPv3's, from NDR on. SOURCE: Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c, typeConvert
/// (NCCL_SHARP_V3_DATATYPES).
constexpr bool sharp_adds_narrow_types(double card_gb_per_s) { return card_gb_per_s >= 50; }

/// Whether NCCL takes a plugin for CollNet, if there is one: the user wants it, there are nodes
/// enough, and (until 2.22) not more than 8 GPUs in each. REQUIRES: version, ranks, nodes and
/// graphs are set. SOURCE: NVIDIA/nccl src/init.cc, initTransportsRank
/// (NCCL_COLLNET_NODE_THRESHOLD).
bool collnet_is_on(const Communicator& communicator, const Settings& settings);

/// Whether the algorithm has the network reduce. NVLS does so between nodes.
constexpr bool by_network(Algorithm algorithm, int nodes) {
  return algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain ||
         (algorithm == Algorithm::kNvls && nodes > 1);
}

}  // namespace tutti::core::nccl
