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
  /// True if every two GPUs of a node are connected by a path that NCCL ranks closer than PCIe.
  bool all_nvlink = false;
  /// The relays of messages between nodes (PXN). A message from GPU g to GPU p of another node
  /// leaves through the network card of GPU relays[g][p] in g's node, because that card is on the
  /// rail of p. If relays[g][p] is g, the message leaves through g's own card. If the list is
  /// empty, every GPU uses its own card.
  std::vector<std::vector<int>> relays;

  [[nodiscard]] int relay(int from, int to) const {
    return relays.empty() ? from : relays[from][to];
  }
};

/// A communicator, with all properties on which NCCL's cost model and schedules depend.
struct Communicator {
  Version version = kDefaultVersion;
  int ranks = 1;
  /// The number of nodes. A node is a host, or all hosts that NVLink connects, such as a rack.
  int nodes = 1;
  /// The minimum and maximum compute capability of all GPUs. The compute capability is 70 for
  /// Volta, 80 for Ampere, 90 for Hopper, and 100 for Blackwell.
  int compute_capability = 80;
  int max_compute_capability = 80;
  HostCpu cpu = HostCpu::kIntel;
  bool nvswitch = false;
  bool nvls = false;      ///< true if GPUs and switches can multicast
  bool collnet = false;   ///< true if the network can reduce (SHARP), its plugin is loaded, and
                          ///< CollNet is enabled
  int collnet_heads = 0;  ///< number of GPUs per node that use the network to reduce
                          ///< (CollNetDirect)
  bool collnet_narrow = false;  ///< true if the network can also add bfloat16 and 8-bit integers
  Graphs graphs;
  int channels = 0;       ///< number of channels (channels.h)
  int nvls_channels = 0;  ///< number of thread blocks of NVLS; 0 without NVLS
  PointToPoint p2p;
  std::array<std::int64_t, 3> buffer_bytes = kOwnBuffers;

  [[nodiscard]] int ranks_of_node() const { return ranks / nodes; }
};

}  // namespace tutti::core::nccl
