#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// The kinds of nodes in a topology. SOURCE: NVIDIA/nccl v2.28.9 src/graph/topo.h.
enum class NodeKind {
  kGpu,
  kPci,  ///< PCIe switch or bridge
  kNvs,  ///< all NVSwitches together
  kCpu,  ///< NUMA node
  kNic,  ///< network card
  kNet,  ///< port of a network card; has a device number in NCCL's network plugin
};
inline constexpr int kNodeKinds = 6;

/// The kinds of links. kLoc connects two PCIe switches that forward to each other.
enum class Wire { kLoc, kNvl, kC2c, kPci, kSys, kNet };

std::string_view to_string(NodeKind kind);

enum class CpuArch { kOther, kX86, kArm, kPower };
enum class CpuVendor { kOther, kIntel, kAmd, kZhaoxin };

/// The known properties of a GPU.
struct GpuFacts {
  int rank = 0;  ///< rank of the GPU in the topology file, counted from 0
  int dev = 0;   ///< index of the GPU in NVML
  int sm = 0;    ///< compute capability: ten times the major number, plus the minor number
  bool gdr = false;
};

/// The known properties of a CPU.
struct CpuFacts {
  CpuArch arch = CpuArch::kOther;
  CpuVendor vendor = CpuVendor::kOther;
  /// The CPU family as NCCL stores it: the base family plus 16 times the extended family. For
  /// example, AMD's Milan, which is usually called family 25 (15 + 10), has 175 in NCCL (15 + 16 ·
  /// 10).
  int family = 0;
  int model = 0;
};

/// The properties of a network card's port.
struct NetFacts {
  std::string name;
  int dev = 0;             ///< device number in NCCL's network plugin
  std::uint64_t asic = 0;  ///< identifier of the network card, which is the same for all its ports
  int port = 0;
  float gb_per_s = 0;
  float latency_us = 0;
  bool gdr = false;
  bool collectives = false;  ///< true if the port can reduce in the network (SHARP)
};

struct TopologyNode {
  NodeKind kind = NodeKind::kPci;
  /// The index of the host among the hosts that share an NVLink domain; 0 if there is only one
  /// host.
  int host = 0;
  /// The number of the node inside its host: the bus id of a GPU, switch or card; the NUMA node of
  /// a CPU; or the device number of a port.
  std::uint64_t local_id = 0;
  /// The indices of the links that start at the node, in the order in which NCCL tries them.
  std::vector<int> links;
  GpuFacts gpu;
  CpuFacts cpu;
  NetFacts net;
  /// Only for a PCIe switch: its PCI identifiers of vendor, device, subsystem vendor and subsystem
  /// device, with 16 bits each, from the highest bits to the lowest.
  std::uint64_t pci_device = 0;

  /// Returns the node's number in NCCL's logs and graph files.
  [[nodiscard]] std::int64_t id() const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(host) << 56) +
                                     (local_id & 0x00ffffffffffffff));
  }
};

/// One direction of a connection.
struct TopologyLink {
  int from = 0;  ///< index of the node where the link starts; `to` is the index of the node where
                 ///< it ends
  int to = 0;
  Wire kind = Wire::kPci;
  float gb_per_s = 0;  ///< rate in GB/s that NCCL assumes for the link
  int back = -1;       ///< index of the link of the same kind in the other direction; -1: none
};

/// The graph of devices and links on which NCCL's search works. The graph represents one host, or
/// all hosts of an NVLink domain. Nodes are in the order of the file, and the links of a node are
/// ordered by bandwidth. The order of nodes and the order of links determine which channel the
/// search finds first.
struct Topology {
  std::vector<TopologyNode> nodes;
  std::vector<TopologyLink> links;
  std::array<std::vector<int>, kNodeKinds> of;  ///< indices of the nodes of each kind
  int hosts = 1;
  std::vector<Problem> notes;  ///< warnings about values in the file that may be wrong

  [[nodiscard]] const std::vector<int>& all(NodeKind kind) const {
    return of[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] int count(NodeKind kind) const { return static_cast<int>(all(kind).size()); }
  [[nodiscard]] const TopologyNode& node(NodeKind kind, int place) const {
    return nodes[all(kind)[place]];
  }
  /// Returns the minimum compute capability of the GPUs; 0 if there are no GPUs.
  [[nodiscard]] int min_sm() const;
};

/// Returns the topology with only the GPUs whose ranks are in `ranks`. The GPUs are renumbered in
/// the order of `ranks`.
Topology with_ranks(const Topology& topology, const std::vector<int>& ranks);

}  // namespace tutti::core::nccl
