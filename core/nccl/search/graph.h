#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::core::nccl {

/// How two devices reach each other, from near to far, as NCCL 2.27.5 and later order them. Older
/// versions lack some, and had kP2c behind kPxn. SOURCE: NVIDIA/nccl src/graph/topo.h.
enum class PathType {
  kLoc,  ///< the device itself
  kNvl,  ///< NVLink
  kNvb,  ///< NVLink by way of one other GPU
  kC2c,  ///< chip to chip (Grace to Hopper)
  kPix,  ///< one PCIe switch
  kPxb,  ///< several PCIe switches
  kP2c,  ///< chip to chip to the CPU, then PCIe to the network card
  kPxn,  ///< to a network card by way of another GPU over NVLink
  kPhb,  ///< through the CPU
  kSys,  ///< between the CPU's sockets
  kNet,  ///< the network
  kDis,  ///< none
};

/// What channels look like. The numbers are those of NCCL's logs and graph files. SOURCE:
/// NVIDIA/nccl src/graph/graph.h.
enum class Pattern {
  kBalancedTree = 1,  ///< network to the first GPU, and back from the first two in turn
  kSplitTree = 2,     ///< network to the first GPU, back from the second
  kTree = 3,          ///< network to the first GPU, and back from it
  kRing = 4,
  kNvls = 5,
  kCollnetDirect = 6,
};

/// One channel of a graph: the GPUs of a node in the order in which data goes through them.
struct GraphChannel {
  std::vector<int> gpus;  ///< ranks inside the node
  /// Network devices before the first GPU and behind the last, as the topology numbers them
  /// (`NET/0` is 0; those of host h of several that share an NVLink domain have h << 56 added);
  /// empty inside one node.
  std::vector<std::int64_t> nets;
};

/// What NCCL's search found for one pattern; of a communicator, the least of all ranks (of types
/// and cross_nic the most). SOURCE: NVIDIA/nccl src/graph/graph.h, struct ncclTopoGraph; the graph
/// files' attributes.
struct Graph {
  int id = 0;  ///< of graph files: 0 ring, 1 tree, 2 CollNet chain, 3 NVLS, 4 CollNet direct
  Pattern pattern = Pattern::kRing;
  int cross_nic = 0;   ///< 0, 1, 2 as in NCCL_CROSS_NIC
  int channels = 0;    ///< found by the search, before any are doubled; 0: there is no such graph
  float bw_intra = 0;  ///< of one channel, GB/s (1e9)
  float bw_inter = 0;  ///< of one channel, GB/s (1e9)
  float latency_inter = 0;  ///< us, of the network card, on top of NCCL's own figure
  PathType type_intra = PathType::kLoc;
  PathType type_inter = PathType::kLoc;
  bool same_channels = false;  ///< all channels are the same
  std::vector<GraphChannel>
      orders;  ///< one per channel; may be empty where only the figures are known
};

/// What NCCL's search found for a communicator. A graph without channels is one that it has not
/// got.
struct Graphs {
  Graph ring;
  Graph tree;
  Graph collnet_chain;
  Graph collnet_direct;
  Graph nvls;
};

}  // namespace tutti::core::nccl
