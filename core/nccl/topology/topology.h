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
  kNvs,  ///< all NVSwitches, as one
  kCpu,  ///< a NUMA node
  kNic,  ///< a network card
  kNet,  ///< a port of a network card, as its plugin numbers them
};
inline constexpr int kNodeKinds = 6;

/// The kind of a link; kLoc joins two PCIe switches that forward to each other.
enum class Wire { kLoc, kNvl, kC2c, kPci, kSys, kNet };

std::string_view to_string(NodeKind kind);

enum class CpuArch { kOther, kX86, kArm, kPower };
enum class CpuVendor { kOther, kIntel, kAmd, kZhaoxin };

/// The known facts about a GPU.
struct GpuFacts {
  int rank = 0;  ///< its place among the file's ranks, from 0
  int dev = 0;   ///< NVML's index
  int sm = 0;    ///< ten times the major compute capability, plus the minor
  bool gdr = false;
};

/// The known facts about a CPU.
struct CpuFacts {
  CpuArch arch = CpuArch::kOther;
  CpuVendor vendor = CpuVendor::kOther;
  int family =
      0;  ///< as NCCL stores it: base plus 16 times extended, so that AMD's Milan is 175 and no 25
  int model = 0;
};

/// The known facts about a port of a network card.
struct NetFacts {
  std::string name;
  int dev = 0;             ///< its plugin's index
  std::uint64_t asic = 0;  ///< ports of one card share it
  int port = 0;
  float gb_per_s = 0;
  float latency_us = 0;
  bool gdr = false;
  bool collectives = false;  ///< it can reduce in the network (SHARP)
};

struct TopologyNode {
  NodeKind kind = NodeKind::kPci;
  int host = 0;  ///< of the hosts that share an NVLink domain; 0 where there is one
  std::uint64_t local_id =
      0;                   ///< bus id of GPU, switch and card; NUMA node of a CPU; `dev` of a port
  std::vector<int> links;  ///< those that lead away from it, in the order in which NCCL tries them
  GpuFacts gpu;
  CpuFacts cpu;
  NetFacts net;
  std::uint64_t pci_device =
      0;  ///< of a switch: vendor, device and those of the subsystem, 16 bits each

  /// The number in NCCL's logs and graph files.
  [[nodiscard]] std::int64_t id() const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(host) << 56) +
                                     (local_id & 0x00ffffffffffffff));
  }
};

/// One direction of a connection.
struct TopologyLink {
  int from = 0;  ///< indices of nodes
  int to = 0;
  Wire kind = Wire::kPci;
  float gb_per_s = 0;  ///< what NCCL plans with
  int back = -1;       ///< the link of the same kind the other way
};

/// The machine as NCCL's search sees it: a host, or all hosts of one NVLink domain. Nodes keep the
/// order of the file and links that of their bandwidth, because both determine which channel is
/// found first.
struct Topology {
  std::vector<TopologyNode> nodes;
  std::vector<TopologyLink> links;
  std::array<std::vector<int>, kNodeKinds> of;  ///< nodes by their kind
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
