#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::core::nccl {

/// The type of a path between two devices, from near to far, in the order of NCCL 2.27.5 and later.
/// Older versions lack some, and order kP2c after kPxn. SOURCE: NVIDIA/nccl src/graph/topo.h.
enum class PathType {
  kLoc,  ///< the device itself
  kNvl,  ///< NVLink
  kNvb,  ///< NVLink through one other GPU
  kC2c,  ///< chip to chip (Grace to Hopper)
  kPix,  ///< one PCIe switch
  kPxb,  ///< several PCIe switches
  kP2c,  ///< chip to chip to the CPU, then PCIe to the network card
  kPxn,  ///< to a network card through another GPU over NVLink
  kPhb,  ///< through the CPU
  kSys,  ///< across CPU sockets
  kNet,  ///< the network
  kDis,  ///< no path
};

/// The shape of channels. The numbers are those in NCCL's logs and graph files. SOURCE: NVIDIA/nccl
/// src/graph/graph.h.
enum class Pattern {
  kBalancedTree = 1,  ///< network to the first GPU, and back half each from the first two
  kSplitTree = 2,     ///< network to the first GPU, back from the second
  kTree = 3,          ///< network to the first GPU, and back from it
  kRing = 4,
  kNvls = 5,
  kCollnetDirect = 6,
};

/// One channel of a graph: the GPUs of a node in the order of the data flow.
struct GraphChannel {
  std::vector<int> gpus;  ///< ranks inside the node
  /// The network devices before the first GPU and after the last, with the topology's numbers
  /// (`NET/0` is 0; for host h of several that share an NVLink domain, h << 56 is added); empty
  /// inside one node.
  std::vector<std::int64_t> nets;
};

/// The result of NCCL's search for one pattern; for a communicator, the minimum over all ranks (for
/// types and cross_nic the maximum). SOURCE: NVIDIA/nccl src/graph/graph.h, struct ncclTopoGraph;
/// the graph files' attributes.
struct Graph {
  int id = 0;  ///< number in graph files: 0 ring, 1 tree, 2 CollNet chain, 3 NVLS, 4 CollNet direct
  Pattern pattern = Pattern::kRing;
  int cross_nic = 0;   ///< 0, 1 or 2, as in NCCL_CROSS_NIC
  int channels = 0;    ///< number found by the search, before doubling; 0: the graph does not exist
  float bw_intra = 0;  ///< inside a node, of one channel, GB/s (1e9)
  float bw_inter = 0;  ///< between nodes, of one channel, GB/s (1e9)
  float latency_inter = 0;  ///< latency of the network card in us, added to NCCL's own figure
  PathType type_intra = PathType::kLoc;
  PathType type_inter = PathType::kLoc;
  bool same_channels = false;  ///< all channels are the same
  /// One per channel; may be empty if only the figures are known.
  std::vector<GraphChannel> orders;
};

/// The results of NCCL's search for a communicator. A graph without channels does not exist.
struct Graphs {
  Graph ring;
  Graph tree;
  Graph collnet_chain;
  Graph collnet_direct;
  Graph nvls;
};

}  // namespace tutti::core::nccl
