#include "core/nccl/search/search.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/nccl/search/node_search.h"

namespace tutti::core::nccl {

namespace {

constexpr int kMaxGpus = 160;         // deeper searches need more stack than a thread has
constexpr int kMaxRingChannels = 32;  // half of 64, because each is used twice

/// Returns the reason why a graph from a file cannot be used for a node with this number of GPUs;
/// "" if it can be used.
std::string misfit(const Graph& graph, int gpus) {
  for (const GraphChannel& channel : graph.orders) {
    const bool known =
        std::all_of(channel.gpus.begin(), channel.gpus.end(), [gpus](int g) { return g < gpus; });
    if (!known || (graph.id != 3 && channel.gpus.size() != static_cast<std::size_t>(gpus)))
      return fmt::format(
          "graph {} has a channel {}; the file was written on another machine, or on several nodes",
          graph.id,
          known ? fmt::format("of {} GPUs, but a node has {} GPUs", channel.gpus.size(), gpus)
                : fmt::format("with a GPU that a node of {} GPUs does not have", gpus));
  }
  return "";
}

Graph none(int id, Pattern pattern) {
  Graph graph;
  graph.id = id;
  graph.pattern = pattern;
  return graph;
}

/// Returns the ranks that rank 0 reaches without the network.
std::vector<int> first_domain(const Topology& topology, const std::vector<int>& domains) {
  int mine = 0;
  for (int g = 0; g < topology.count(NodeKind::kGpu); ++g) {
    if (topology.node(NodeKind::kGpu, g).gpu.rank == 0) mine = domains[g];
  }
  std::vector<int> ranks;
  for (int g = 0; g < topology.count(NodeKind::kGpu); ++g) {
    if (domains[g] == mine) ranks.push_back(topology.node(NodeKind::kGpu, g).gpu.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

Expected<SearchResult> search_graphs(const Topology& topology, std::int64_t count,
                                     const SearchSettings& settings, std::span<const Graph> given) {
  const auto refuse = [](ProblemKind kind, std::string text) {
    return tl::unexpected(Error::request(std::move(kind), std::move(text)));
  };
  SearchResult result;
  std::vector<int> domains = Paths(topology, settings).domains();
  result.node = with_ranks(topology, first_domain(topology, domains));
  std::sort(domains.begin(), domains.end());
  result.nodes_per_topology =
      static_cast<int>(std::unique(domains.begin(), domains.end()) - domains.begin());
  const int gpus = result.node.count(NodeKind::kGpu);
  result.over_nodes = count > 1 || gpus < topology.count(NodeKind::kGpu);
  if (gpus > kMaxGpus)
    return refuse(
        {ProblemCode::kTooLarge, "gpu"},
        fmt::format("{} GPUs in one node exceed the search's limit of {}", gpus, kMaxGpus));
  if (result.over_nodes && result.node.count(NodeKind::kNet) == 0) {
    return refuse({ProblemCode::kMissing, "net"},
                  fmt::format("{} nodes need a network, but the topology has no <net>; dump the "
                              "topology on a machine with a network card",
                              count * result.nodes_per_topology));
  }
  for (const Graph& graph : given) {
    if (const std::string problem = misfit(graph, gpus); !problem.empty())
      return refuse({ProblemCode::kConflict, "graph"}, problem);
  }
  NodeSearch search(result.node, settings, result.over_nodes);
  const auto find = [&](int id, Pattern pattern, bool collnet, int min_channels, int max_channels) {
    const auto known =
        std::find_if(given.begin(), given.end(), [id](const Graph& g) { return g.id == id; });
    const bool usable = known != given.end() && known->channels > 0 &&
                        !(settings.cross_nic == 0 && known->cross_nic == 1);
    return usable ? *known : search.find(id, pattern, collnet, min_channels, max_channels);
  };
  Graphs& graphs = result.graphs;
  graphs.ring = find(0, Pattern::kRing, false, 1, kMaxRingChannels);
  const int channels = graphs.ring.channels;
  graphs.tree = find(1, Pattern::kBalancedTree, false, channels, channels);
  graphs.collnet_chain = none(2, Pattern::kTree);
  graphs.collnet_direct = none(4, Pattern::kCollnetDirect);
  if (settings.collnet) {
    graphs.collnet_chain = find(2, Pattern::kTree, true, channels, channels);
    graphs.collnet_direct = find(4, Pattern::kCollnetDirect, true, 1, 64);
  }
  graphs.nvls = none(3, Pattern::kNvls);
  if (settings.nvls && gpus > 1 && result.node.count(NodeKind::kNvs) > 0 &&
      result.node.min_sm() >= 90)
    graphs.nvls = find(3, Pattern::kNvls, false, 1, 64);
  if (search.gave_up())
    return refuse({ProblemCode::kUnsupported, "system"},
                  "NCCL's search does not finish on this topology; was the file written by NCCL?");
  result.most_gb_per_s = search.most();
  result.total_gb_per_s = search.total();
  return result;
}

}  // namespace tutti::core::nccl
