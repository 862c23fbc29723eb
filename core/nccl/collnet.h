#pragma once

#include <string>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// CollNet is NCCL's interface for networks whose switches can reduce. SHARP is the only known
/// implementation.

/// Returns the reason why the network cannot reduce with SHARP's streaming aggregation, which
/// CollNet needs; "" if the network's hardware supports it. Hardware support is not sufficient:
/// SHARP must be enabled on the switches, and NCCL must have the SHARP plugin. SOURCE: NVIDIA SHARP
/// 3.9, "Using NVIDIA SHARP with NVIDIA NCCL": the minimum is ConnectX-6 HDR cards and Quantum HDR
/// switches.
std::string why_no_sharp(const System& system);

/// True if the switches in networks with this card rate (GB/s) can add bfloat16 and 8-bit integers.
/// Additions of bfloat16 and 8-bit integers require SHARPv3, which is available from NDR on.
/// SOURCE: Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c, typeConvert
/// (NCCL_SHARP_V3_DATATYPES).
constexpr bool sharp_adds_narrow_types(double card_gb_per_s) { return card_gb_per_s >= 50; }

/// True if NCCL uses an installed CollNet plugin: the user has enabled CollNet, NCCL's search has
/// found channels for it, there are enough nodes, and (in 2.14 to 2.22) each node has at most 8
/// GPUs. REQUIRES: version, ranks, nodes and graphs are set. SOURCE: NVIDIA/nccl src/init.cc,
/// initTransportsRank (NCCL_COLLNET_NODE_THRESHOLD).
bool collnet_is_on(const Communicator& communicator, const Settings& settings);

/// True if the network's switches reduce in this algorithm. With NVLS, the network's switches
/// reduce only if there are several nodes.
constexpr bool by_network(Algorithm algorithm, int nodes) {
  return algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain ||
         (algorithm == Algorithm::kNvls && nodes > 1);
}

}  // namespace tutti::core::nccl
