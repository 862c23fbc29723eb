#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/nccl/search/graph.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// The kinds of CPUs that NCCL distinguishes; kMixed: x86 CPUs of several vendors.
enum class HostCpu { kIntel, kAmd, kZhaoxin, kMixed, kArm, kPower };

constexpr bool is_x86(HostCpu cpu) { return cpu != HostCpu::kArm && cpu != HostCpu::kPower; }

/// The bytes of a connection's buffers of eight steps, by protocol: LL, LL128, Simple. SOURCE:
/// NVIDIA/nccl src/init.cc, computeBuffSizes.
inline constexpr std::array<std::int64_t, 3> kOwnBuffers{524288, 4915200, 4194304};

/// The transport of sends and receives between two ranks.
struct PointToPoint {
  int channels = 1;  ///< total number, a power of two
  int per_peer = 1;  ///< number of channels used with one peer
  /// True if all pairs of GPUs of a node are closer than PCIe.
  bool all_nvlink = false;
  /// relays[g][p] is the GPU of g's node at whose card a message of g to GPU p of another node
  /// leaves, because the card is on p's rail (PXN); g itself: its own card. Empty: every GPU uses
  /// its own card.
  std::vector<std::vector<int>> relays;

  [[nodiscard]] int relay(int from, int to) const {
    return relays.empty() ? from
                          : relays[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
};

/// All facts about a communicator that NCCL's tuning and its schedules use.
struct Communicator {
  Version version = kDefaultVersion;
  int ranks = 1;
  /// NVLink or host domains: normally hosts; a whole rack if NVLink connects it.
  int nodes = 1;
  /// The minimum and maximum over all GPUs: 70 Volta, 80 Ampere, 90 Hopper, 100 Blackwell.
  int compute_capability = 80;
  int most_compute_capability = 80;
  HostCpu cpu = HostCpu::kIntel;
  bool nvswitch = false;
  bool nvls = false;     ///< GPUs and switches can multicast
  bool collnet = false;  ///< the network can reduce (SHARP), a plugin for it is loaded, and CollNet
                         ///< is switched on
  int collnet_heads = 0;        ///< GPUs per node that let the network reduce (CollNetDirect)
  bool collnet_narrow = false;  ///< the network also adds bfloat16 and 8-bit integers
  Graphs graphs;
  int channels = 0;       ///< channels of the communicator (channels.h)
  int nvls_channels = 0;  ///< thread blocks of NVLS; 0 without NVLS
  PointToPoint p2p;
  std::array<std::int64_t, 3> buffer_bytes = kOwnBuffers;

  [[nodiscard]] int ranks_of_node() const { return ranks / nodes; }
};

}  // namespace tutti::core::nccl
