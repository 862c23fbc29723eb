#pragma once

// The search for the channels of one graph. Only the code of the graph search includes this header.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/nccl/search/graph.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/paths.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// An attempt to find channels: the properties that channels must have, and the channels found so
/// far.
struct Trial {
  Pattern pattern = Pattern::kRing;
  bool collnet = false;  ///< true if the search uses only network ports that can reduce
  int cross_nic = 0;
  float bw_intra = 0, bw_inter = 0;  ///< required GB/s per channel, inside a node and between nodes
  PathType type_intra = PathType::kLoc, type_inter = PathType::kPix;
  bool same_channels = true;
  int min_channels = 1, max_channels = 1;

  int channels = 0;
  float latency_inter = 0;
  int hops = 0;
  std::vector<int> gpus;  ///< for each channel, the indices of all GPUs in the order of the channel
  std::vector<int> nets;  ///< indices of network ports; for each channel, the first and the last
                          ///< port
};

/// Finds channels in a topology, one after the other. Each channel uses up a part of the bandwidth
/// of the links that it crosses. The search is depth-first and ends after a limited number of
/// steps. The search tries paths in exactly NCCL's order, because the order determines the result
/// if the search ends early. SOURCE: NVIDIA/nccl v2.28.9 src/graph/search.cc.
class ChannelSearch {
 public:
  /// `over_nodes` is true if channels begin and end at a network port.
  ChannelSearch(const Topology& topology, const Paths& paths, const SearchSettings& settings,
                bool over_nodes);

  /// The maximum number of attempts to cross a path. The search is given up after this number of
  /// attempts. NCCL has no such limit.
  static constexpr std::int64_t kMaxCrossings = std::int64_t{1} << 28;
  static constexpr int kPerfect = -1;

  /// Searches for channels that have the properties required by `trial`. If the result is better
  /// than `best`, it replaces `best`. On entry, `steps` is the maximum number of search steps. On
  /// return, `steps` is the number of remaining steps, or kPerfect if no better result is possible.
  void run(Trial& trial, Trial& best, int& steps);
  /// True if the search has exceeded kMaxCrossings.
  [[nodiscard]] bool gave_up() const { return crossings_ > kMaxCrossings; }

  /// Returns the network ports that the search tries for a GPU (for all GPUs if `gpu` is -1), in
  /// order. The ports that NCCL prefers for a GPU come first, followed by all ports up to the
  /// distance `farthest`. If `farthest` is nullopt, only preferred ports are returned.
  [[nodiscard]] std::vector<int> nets_for(int gpu, std::optional<PathType> farthest) const;

 private:
  enum class Order { kSearched, kPci, kReplayed };
  /// The requirements for the GPUs that are still to be added to a channel.
  struct Rest {
    /// The next GPU that has to send to the network, as its position in the channel; -1: none.
    int back_to_net = -1;
    int back_to_first = -1;  ///< the GPU that has to send to the first GPU, as its position in the
                             ///< channel; -1: none
    Order order = Order::kSearched;
  };

  void lay(Trial& trial, Trial& best, int& steps);
  void lay_inside(Trial& trial, Trial& best, int& steps, const Rest& rest);
  void lay_from_nets(Trial& trial, Trial& best, int& steps, const Rest& rest);
  void lay_from_net(Trial& trial, Trial& best, int& steps, const Rest& rest, int net);
  bool lay_head(Trial& trial, Trial& best, int& steps, const Rest& rest, int net);
  void enter(Trial& trial, Trial& best, int& steps, int step, const Rest& rest,
             std::optional<NodeKind> from, int place, int gpu);
  void at_gpu(Trial& trial, Trial& best, int& steps, int gpu, int step, const Rest& rest);
  void go_to_net(Trial& trial, Trial& best, int& steps, int gpu, int step, const Rest& rest);
  void go_to_next(Trial& trial, Trial& best, int& steps, int gpu, int step, const Rest& rest);
  void pull_from_switch(Trial& trial, Trial& best, int& steps, int head);
  void reduce_at_head(Trial& trial, Trial& best, int& steps, int head);
  void complete(Trial& trial, Trial& best, int& steps);

  [[nodiscard]] bool better(const Trial& trial, const Trial& best) const;
  [[nodiscard]] bool may_leave_by(const Trial& trial, int net, int step) const;
  [[nodiscard]] std::vector<int> next_gpus(const Trial& trial, int gpu, int sort_by_net) const;
  [[nodiscard]] std::vector<int> next_neighbours(const Trial& trial, int gpu) const;
  [[nodiscard]] bool may_follow(const Trial& trial, int gpu, int next) const {
    const bool used = (used_[next] >> trial.channels & 1) != 0;
    return next != gpu && !used &&
           !paths_.between(NodeKind::kGpu, gpu, NodeKind::kGpu, next).links.empty();
  }
  [[nodiscard]] int pcie_gb_per_s(int gpu) const;

  static constexpr int kDistances = static_cast<int>(PathType::kDis) + 1;

  bool cross(Trial& trial, NodeKind from, int from_place, NodeKind to, int to_place, float times);
  int take(const Path& path, const TopologyNode& start, std::size_t steps, float gb_per_s);
  void use_port(int net, float gb_per_s);

  [[nodiscard]] const std::vector<int>& nets(int gpu, PathType farthest);
  [[nodiscard]] const NetFacts& port(int net) const {
    return topology_.node(NodeKind::kNet, net).net;
  }

  const Topology& topology_;
  const Paths& paths_;
  const SearchSettings& settings_;
  bool over_nodes_;
  int gpus_;
  /// Properties of a link that affect how much bandwidth a crossing takes.
  struct LinkTraits {
    bool pcie = false;
    /// True if the link leads to a GPU that reads incoming data. In the other direction, the GPU's
    /// read requests use an eighth of the bandwidth that the data uses.
    bool requests_data = false;
    /// True if a channel that crosses the link uses the same bandwidth in both directions.
    bool both_ways = false;
    bool to_intel = false;  ///< true if the link's end is an Intel CPU
  };
  std::vector<LinkTraits> link_traits_;  ///< properties of each link
  std::vector<float> left_;              ///< for each link: its unused bandwidth in GB/s
  std::vector<float> port_left_;         ///< for each network port: its unused bandwidth in GB/s
  std::vector<std::uint64_t> used_;  ///< for each GPU: bit c is set if channel c contains the GPU
  std::vector<int> local_gpu_;       ///< for each network port: its local GPU (Paths::local_gpu())
  std::int64_t crossings_ = 0;
  std::vector<std::optional<std::vector<int>>> nets_;  ///< cached results of nets_for() for each
                                                       ///< GPU and distance
};

}  // namespace tutti::core::nccl
