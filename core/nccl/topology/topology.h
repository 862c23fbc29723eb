#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// The kind of a topology's node. SOURCE: NVIDIA/nccl v2.28.9 src/graph/topo.h.
enum class NodeKind {
  kGpu,
  kPci,  ///< a PCIe switch or bridge
  kNvs,  ///< all NVSwitches, represented as one
  kCpu,  ///< a NUMA node
  kNic,  ///< a network card
  kNet,  ///< a port of a network card, as numbered by its plugin
};
inline constexpr int kNodeKinds = 6;

/// The kind of a link; kLoc joins two PCIe switches that forward to each other.
enum class Wire { kLoc, kNvl, kC2c, kPci, kSys, kNet };

std::string_view to_string(NodeKind kind);

enum class CpuArch { kOther, kX86, kArm, kPower };
enum class CpuVendor { kOther, kIntel, kAmd, kZhaoxin };

/// The known facts about a GPU.
struct GpuFacts {
  int rank = 0;  ///< index among the file's ranks, from 0
  int dev = 0;   ///< index in NVML
  int sm = 0;    ///< ten times the major compute capability, plus the minor
  bool gdr = false;
};

/// The known facts about a CPU.
struct CpuFacts {
  CpuArch arch = CpuArch::kOther;
  CpuVendor vendor = CpuVendor::kOther;
  /// As NCCL stores it: base plus 16 times extended, so AMD's Milan is 175 instead of 25.
  int family = 0;
  int model = 0;
};

/// The known facts about a port of a network card.
struct NetFacts {
  std::string name;
  int dev = 0;             ///< index in its plugin
  std::uint64_t asic = 0;  ///< identifier shared by the ports of one card
  int port = 0;
  float gb_per_s = 0;
  float latency_us = 0;
  bool gdr = false;
  bool collectives = false;  ///< the port can reduce in the network (SHARP)
};

struct TopologyNode {
  NodeKind kind = NodeKind::kPci;
  int host = 0;  ///< index among the hosts that share an NVLink domain; 0 if there is one
  /// The bus id of a GPU, switch or card; the NUMA node of a CPU; `dev` of a port.
  std::uint64_t local_id = 0;
  /// The links that lead away from the node, in the order in which NCCL tries them.
  std::vector<int> links;
  GpuFacts gpu;
  CpuFacts cpu;
  NetFacts net;
  /// For a switch: vendor and device, then those of the subsystem, 16 bits each.
  std::uint64_t pci_device = 0;

  /// The number in NCCL's logs and graph files.
  [[nodiscard]] std::int64_t id() const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(host) << 56) +
                                     (local_id & 0x00ffffffffffffff));
  }
};

/// One direction of a connection.
struct TopologyLink {
  int from = 0;  ///< `from` and `to` are indices of nodes
  int to = 0;
  Wire kind = Wire::kPci;
  float gb_per_s = 0;  ///< rate that NCCL plans with
  int back = -1;       ///< index of the link of the same kind in the other direction
};

/// The machine as NCCL's search sees it: a host, or all hosts of one NVLink domain. Nodes keep the
/// order of the file and links that of their bandwidth, because both determine which channel is
/// found first.
struct Topology {
  std::vector<TopologyNode> nodes;
  std::vector<TopologyLink> links;
  std::array<std::vector<int>, kNodeKinds> of;  ///< indices of nodes, by kind
  int hosts = 1;
  std::vector<Problem> notes;  ///< warnings about values in the file that may be mistakes

  [[nodiscard]] const std::vector<int>& all(NodeKind kind) const {
    return of[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] int count(NodeKind kind) const { return static_cast<int>(all(kind).size()); }
  [[nodiscard]] const TopologyNode& node(NodeKind kind, int place) const {
    return nodes[static_cast<std::size_t>(all(kind)[static_cast<std::size_t>(place)])];
  }
  /// Returns the lowest compute capability of its GPUs; 0 if it has none.
  [[nodiscard]] int min_sm() const;
};

/// Returns the topology with only the GPUs of `ranks`, renumbered in their order.
Topology with_ranks(const Topology& topology, const std::vector<int>& ranks);

}  // namespace tutti::core::nccl
