#pragma once

#include <string>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Networks that reduce in their switches: CollNet is NCCL's interface for them, and SHARP the only
/// network known to implement it.

/// Returns the reason why the network cannot reduce with SHARP's streaming aggregation, which
/// CollNet needs; empty if it can, given its switches and a plugin. SOURCE: NVIDIA SHARP 3.9,
/// "Using NVIDIA SHARP with NVIDIA NCCL": ConnectX-6 HDR and above, Quantum HDR switches and above.
std::string why_no_sharp(const System& system);

/// True if cards of this rate (GB/s) come with switches that add bfloat16 and 8-bit integers:
/// SHARPv3, from NDR on. SOURCE: Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c, typeConvert
/// (NCCL_SHARP_V3_DATATYPES).
constexpr bool sharp_adds_narrow_types(double card_gb_per_s) { return card_gb_per_s >= 50; }

/// True if NCCL uses a CollNet plugin, if one is installed: the user enables it, there are enough
/// nodes, and (until 2.22) at most 8 GPUs in each. REQUIRES: version, ranks, nodes and graphs are
/// set. SOURCE: NVIDIA/nccl src/init.cc, initTransportsRank (NCCL_COLLNET_NODE_THRESHOLD).
bool collnet_is_on(const Communicator& communicator, const Settings& settings);

/// True if the network reduces in this algorithm. For NVLS this holds between nodes.
constexpr bool by_network(Algorithm algorithm, int nodes) {
  return algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain ||
         (algorithm == Algorithm::kNvls && nodes > 1);
}

}  // namespace tutti::core::nccl
