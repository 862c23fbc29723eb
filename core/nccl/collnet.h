#pragma once

#include <string>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Networks that reduce in their switches. CollNet is NCCL's interface for networks that reduce in
/// their switches. SHARP is the only known implementation.

/// Returns the reason why the network cannot reduce with SHARP's streaming aggregation, which
/// CollNet needs; "" if the network's hardware supports it. If the hardware supports SHARP, the
/// network can reduce if its switches have SHARP and NCCL has the plugin. SOURCE: NVIDIA SHARP 3.9,
/// "Using NVIDIA SHARP with
/// NVIDIA NCCL": the minimum is ConnectX-6 HDR cards and Quantum HDR switches.
std::string why_no_sharp(const System& system);

/// True if cards with this rate (GB/s) are used with switches that can add bfloat16 and 8-bit
/// integers. Additions of bfloat16 and 8-bit integers require SHARPv3, which is available from NDR
/// on. SOURCE: Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c, typeConvert
/// (NCCL_SHARP_V3_DATATYPES).
constexpr bool sharp_adds_narrow_types(double card_gb_per_s) { return card_gb_per_s >= 50; }

/// True if NCCL uses an installed CollNet plugin: the user has enabled CollNet, there are enough
/// nodes, and (in 2.14 to 2.22) each node has at most 8 GPUs. REQUIRES: version, ranks, nodes and
/// graphs are set. SOURCE: NVIDIA/nccl src/init.cc, initTransportsRank
/// (NCCL_COLLNET_NODE_THRESHOLD).
bool collnet_is_on(const Communicator& communicator, const Settings& settings);

/// True if the switches of the network reduce in this algorithm. For NVLS, the switches of the
/// network reduce only if there are several nodes.
constexpr bool by_network(Algorithm algorithm, int nodes) {
  return algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain ||
         (algorithm == Algorithm::kNvls && nodes > 1);
}

}  // namespace tutti::core::nccl
