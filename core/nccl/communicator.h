#pragma once

#include <array>
#include <cstdint>

#include "core/nccl/graph.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// CPUs as far as NCCL tells them apart; kMixed: x86 of several makers.
enum class HostCpu { kIntel, kAmd, kZhaoxin, kMixed, kArm, kPower };

constexpr bool is_x86(HostCpu cpu) { return cpu != HostCpu::kArm && cpu != HostCpu::kPower; }

/// All that NCCL's tuning knows of the ranks that talk to each other.
struct Communicator {
  Version version = kDefaultVersion;
  int ranks = 1;
  /// NVLink or host domains: hosts, as a rule; a whole rack where NVLink joins it.
  int nodes = 1;
  /// The least and the most of all GPUs: 70 Volta, 80 Ampere, 90 Hopper, 100 Blackwell.
  int compute_capability = 80;
  int most_compute_capability = 80;
  HostCpu cpu = HostCpu::kIntel;
  bool nvswitch = false;
  bool nvls = false;     ///< GPUs and switches can multicast
  bool collnet = false;  ///< the network can reduce (SHARP), and a plugin for it is loaded
  int collnet_heads = 0;
  Graphs graphs;
  int channels = 0;       ///< of the communicator (channels.h)
  int nvls_channels = 0;  ///< thread blocks of NVLS; 0 without it
  /// Of a connection, by protocol: LL, LL128, Simple; eight steps each.
  std::array<std::int64_t, 3> buffer_bytes{524288, 4915200, 4194304};

  [[nodiscard]] int ranks_of_node() const { return ranks / nodes; }
};

}  // namespace tutti::core::nccl
