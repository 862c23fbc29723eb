#pragma once

#include <array>
#include <vector>

#include "core/nccl/search/graph.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// The path from one node to another.
struct Path {
  std::vector<int> links;  ///< indices of links in the topology, in order
  float gb_per_s = 0;      ///< rate of the path's slowest link
  PathType type = PathType::kDis;
};

/// Computes the paths between GPUs, CPUs, network ports and the NVSwitch. If there are several
/// shortest paths between two nodes, the path with the highest bandwidth is used. Like NCCL, the
/// class then changes some paths because of peer access, shared memory, GPUDirect and PXN.
/// REQUIRES: the topology outlives this object. SOURCE: NVIDIA/nccl v2.28.9 src/graph/paths.cc,
/// topo.cc.
class Paths {
 public:
  Paths(const Topology& topology, const SearchSettings& settings);

  /// Returns the path from the node with the index `node` to another node. The other node is
  /// specified by its kind (GPU, CPU, network port, NVSwitch) and by its index `place` among the
  /// nodes of this kind.
  [[nodiscard]] const Path& at(int node, NodeKind kind, int place) const {
    return paths_[node][static_cast<std::size_t>(kind)][place];
  }
  [[nodiscard]] const Path& between(NodeKind from, int from_place, NodeKind to,
                                    int to_place) const {
    return at(topology_.all(from)[from_place], to, to_place);
  }

  /// Returns the nearest (or farthest) type among all paths between GPUs or, if `kind` is kNet,
  /// from GPUs to network ports.
  [[nodiscard]] PathType nearest(NodeKind kind) const;
  [[nodiscard]] PathType farthest(NodeKind kind) const;

  /// The local ports of a GPU: of the ports that the GPU reaches at its highest bandwidth, those
  /// with the nearest path type. The local GPUs of a network port are defined in the same way.
  struct Locals {
    std::vector<int> places;
    PathType type = PathType::kDis;
  };
  [[nodiscard]] const Locals& local_gpus(int net) const { return net_gpus_[net]; }
  [[nodiscard]] const Locals& local_nets(int gpu) const { return gpu_nets_[gpu]; }
  /// Returns the index of the network port that a GPU uses for a channel; -1 if there is none.
  [[nodiscard]] int local_net(int gpu, int channel) const;
  /// Returns the index of the GPU that uses a network port; -1 if no GPU uses the port. If several
  /// GPUs use the port, returns the GPU that uses it on the lowest channel.
  [[nodiscard]] int local_gpu(int net) const;

  /// True if a network port can read and write the memory of a GPU.
  [[nodiscard]] bool gpu_direct(int gpu, int net) const;

  /// Returns, for every GPU, a number that identifies its node in NCCL's sense: the smallest index
  /// among the GPUs that it reaches without the network. GPUs with different results belong to
  /// different nodes, even if they are in the same host.
  [[nodiscard]] std::vector<int> domains() const;

 private:
  using OfKind = std::array<std::vector<Path>, kNodeKinds>;

  [[nodiscard]] Path& to(int node, NodeKind kind, int place) {
    return paths_[node][static_cast<std::size_t>(kind)][place];
  }
  [[nodiscard]] const TopologyNode& gpu(int place) const {
    return topology_.node(NodeKind::kGpu, place);
  }
  [[nodiscard]] int gpu_node(int place) const { return topology_.all(NodeKind::kGpu)[place]; }
  void find_ways_to(NodeKind kind, int place);
  void go_by(NodeKind middle_kind, int middle, int from, NodeKind kind, int place);
  [[nodiscard]] int local_cpu(int gpu) const;
  [[nodiscard]] bool peers(int from, int to) const;
  [[nodiscard]] bool network_is_faster(int a, int b) const;
  [[nodiscard]] bool connected_inside(int from, int to) const;
  [[nodiscard]] int relay(int gpu, int net) const;
  [[nodiscard]] Locals locals(int node, NodeKind kind) const;
  [[nodiscard]] int nets_per_gpu(const std::vector<int>& nets) const;
  void settle_gpus();
  void settle_chip_to_chip();
  void settle_nets();
  bool settle_net(int gpu, int net, int local);

  const Topology& topology_;
  SearchSettings settings_;
  std::vector<OfKind> paths_;                ///< paths from each node
  std::vector<Locals> gpu_nets_, net_gpus_;  ///< for each GPU: its local ports; for each port: its
                                             ///< local GPUs
};

}  // namespace tutti::core::nccl
