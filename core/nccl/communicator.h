#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/nccl/search/graph.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// The kinds of CPUs that NCCL distinguishes. kMixed means x86 CPUs of several vendors.
enum class HostCpu { kIntel, kAmd, kZhaoxin, kMixed, kArm, kPower };

constexpr bool is_x86(HostCpu cpu) { return cpu != HostCpu::kArm && cpu != HostCpu::kPower; }

/// The default buffer size of a connection in bytes, by protocol: LL, LL128, Simple. A buffer has
/// eight slots. SOURCE: NVIDIA/nccl src/init.cc, computeBuffSizes.
inline constexpr std::array<std::int64_t, 3> kOwnBuffers{524288, 4915200, 4194304};

/// The channels and routes of sends and receives.
struct PointToPoint {
  int channels = 1;  ///< total number of channels, a power of two
  int per_peer = 1;  ///< number of channels to one peer
  /// True if all pairs of GPUs in a node are connected by a path type that NCCL considers closer
  /// than PCIe.
  bool all_nvlink = false;
  /// For messages between nodes (PXN): a message from GPU g to GPU p of another node leaves g's
  /// node through the network card of GPU relays[g][p], because this card is on the same rail as p.
  /// If relays[g][p] is g, the message leaves through g's own card. If the list is empty, every GPU
  /// uses its own card.
  std::vector<std::vector<int>> relays;

  [[nodiscard]] int relay(int from, int to) const {
    return relays.empty() ? from : relays[from][to];
  }
};

/// The properties of a communicator on which NCCL's cost model and schedules depend.
struct Communicator {
  Version version = kDefaultVersion;
  int ranks = 1;
  /// The number of nodes. A node is a host, or several hosts whose GPUs NVLink connects, such as a
  /// rack.
  int nodes = 1;
  /// The lowest and the highest compute capability of all GPUs: 70 for Volta, 80 for Ampere, 90 for
  /// Hopper, 100 for Blackwell.
  int compute_capability = 80;
  int max_compute_capability = 80;
  HostCpu cpu = HostCpu::kIntel;
  bool nvswitch = false;
  bool nvls = false;      ///< true if GPUs and NVSwitches support multicast
  bool collnet = false;   ///< true if the network can reduce (SHARP), its plugin is loaded, and
                          ///< CollNet is enabled
  int collnet_heads = 0;  ///< number of GPUs per node that send data to the reducing network
                          ///< (CollNetDirect)
  bool collnet_narrow = false;  ///< true if the network can also add bfloat16 and 8-bit integers
  Graphs graphs;
  int channels = 0;       ///< number of channels (channels.h)
  int nvls_channels = 0;  ///< number of thread blocks for NVLS; 0 if NVLS is not supported
  PointToPoint p2p;
  std::array<std::int64_t, 3> buffer_bytes = kOwnBuffers;

  [[nodiscard]] int ranks_of_node() const { return ranks / nodes; }
};

}  // namespace tutti::core::nccl
