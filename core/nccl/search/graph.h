#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::core::nccl {

/// NCCL's types of paths between two devices, from near to far, in the order of NCCL 2.27.5 and
/// later. Older versions lack some of these path types, and have kP2c after kPxn. SOURCE:
/// NVIDIA/nccl src/graph/topo.h.
enum class PathType {
  kLoc,  ///< the device itself
  kNvl,  ///< NVLink
  kNvb,  ///< NVLink through one other GPU
  kC2c,  ///< chip to chip (Grace to Hopper)
  kPix,  ///< one PCIe switch
  kPxb,  ///< several PCIe switches
  kP2c,  ///< chip to chip from the GPU to the CPU, then PCIe to the network card
  kPxn,  ///< to a network card through another GPU over NVLink
  kPhb,  ///< through the CPU
  kSys,  ///< across CPU sockets
  kNet,  ///< the network
  kDis,  ///< no path
};

/// The shape of channels. The enumerators have the values that NCCL writes to its logs and graph
/// files. SOURCE: NVIDIA/nccl src/graph/graph.h.
enum class Pattern {
  kBalancedTree = 1,  ///< data comes from the network to the first GPU; the first and the second
                      ///< GPU each send half of it back to the network
  /// Data comes from the network to the first GPU, and leaves the node through the second GPU.
  kSplitTree = 2,
  kTree = 3,  ///< data comes from the network to the first GPU, which also sends the data of the
              ///< node to the network
  kRing = 4,
  kNvls = 5,
  kCollnetDirect = 6,
};

/// One channel of a graph: the GPUs of a node, in the order in which data passes through them.
struct GraphChannel {
  std::vector<int> gpus;  ///< local ranks of the GPUs
  /// The numbers (`NET/0` is 0) of the network devices at the two ends of the channel: before the
  /// first GPU and after the last GPU. If several hosts share an NVLink domain, the numbers of host
  /// h are increased by h << 56. The list is empty if the graph is inside one node.
  std::vector<std::int64_t> nets;
};

/// The result of NCCL's search for one pattern. Every rank searches its own graph. Each value of
/// the communicator's graph is the minimum of the values of all ranks or, for path types and
/// cross_nic, the maximum. SOURCE: NVIDIA/nccl, struct ncclTopoGraph in src/graph/graph.h and the
/// attributes of its graph files.
struct Graph {
  int id = 0;  ///< number of the graph in graph files: 0 ring, 1 tree, 2 CollNet chain, 3 NVLS, 4
               ///< CollNet direct
  Pattern pattern = Pattern::kRing;
  int cross_nic = 0;  ///< value 0, 1 or 2 of NCCL_CROSS_NIC
  /// The number of channels found by the search, before NCCL doubles them; 0: the graph does not
  /// exist.
  int channels = 0;
  float bw_intra = 0;  ///< bandwidth of one channel inside a node, in GB/s (1e9 bytes per second)
  float bw_inter = 0;  ///< bandwidth of one channel between nodes, in GB/s (1e9 bytes per second)
  /// The latency of the network card in us. Since 2.18, NCCL's cost model adds this latency to the
  /// latency of each hop between nodes (twice for the protocol Simple). In 2.12 to 2.17, this
  /// latency, unless it is 0, replaces the model's latency of these hops. Before 2.12, NCCL does
  /// not use this latency.
  float latency_inter = 0;
  PathType type_intra = PathType::kLoc;
  PathType type_inter = PathType::kLoc;
  bool same_channels = false;  ///< true if all channels are equal
  /// For each channel, the order of its GPUs. The list is empty if these orders are unknown.
  std::vector<GraphChannel> orders;
};

/// The graphs that NCCL's search finds for a communicator. NCCL does not use a graph that has no
/// channels.
struct Graphs {
  Graph ring;
  Graph tree;
  Graph collnet_chain;
  Graph collnet_direct;
  Graph nvls;
};

}  // namespace tutti::core::nccl
