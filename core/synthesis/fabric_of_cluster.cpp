#include "core/synthesis/fabric_of_cluster.h"

#include <algorithm>
#include <map>

namespace tutti::core::synthesis {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(const Cluster& cluster, FabricLinks which) : cluster_(cluster), which_(which) {}

  Expected<FabricGraph> build() {
    graph_.ranks = static_cast<int>(cluster_.replicas());
    graph_.ranks_per_node = cluster_.replicas_per_worker();
    graph_.switches_reduce = switches_reduce();
    for (std::int64_t rank = 0; rank < cluster_.replicas(); ++rank) node_of(cluster_.replica(rank));
    const std::size_t ranks = graph_.ranks;
    graph_.routes.resize(ranks * ranks);
    for (int from = 0; from < graph_.ranks; ++from) {
      for (int to = 0; to < graph_.ranks; ++to) {
        if (from == to) continue;
        route_.clear();
        // If two ranks have no direct route, other ranks forward the data between them.
        if (!cluster_.append_route(cluster_.replica(from), cluster_.replica(to), Staging::kDirect,
                                   route_))
          continue;
        auto& route =
            graph_.routes[static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to)];
        for (const Hop& hop : route_) route.push_back(link_of(hop));
      }
    }
    if (which_ == FabricLinks::kAll) {
      for (LinkId id = 0; id < cluster_.links(); ++id) link_of(cluster_.link(id));
      graph_.routes.assign(ranks * ranks, {});
    }
    set_capacities(graph_, bandwidths_);
    if (const std::string apart = rank_apart(); !apart.empty())
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict, "--cluster"},
          fmt::format("no schedule exists, because no path leads from {} to {}, not even through "
                      "other ranks; add links to the machine, or a network between the workers",
                      graph_.names.front(), apart)));
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool switches_reduce() const {
    const auto reduces = [](const WorkerGroup& group) {
      const auto& parts = group.machine->parts();
      return std::any_of(parts.begin(), parts.end(),
                         [](const Part& part) { return part.in_switch_reduction; });
    };
    return graph_.ranks_per_node > 1 &&
           std::all_of(cluster_.groups().begin(), cluster_.groups().end(), reduces);
  }

  /// Returns the name of a rank to which no path from rank 0 leads; "" if there is none.
  [[nodiscard]] std::string rank_apart() const {
    std::vector<bool> reached(graph_.nodes(), false);
    std::vector<int> queue{0};
    reached[0] = true;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const FabricLink& link : graph_.links) {
        if (link.from != queue[i] || reached[link.to]) continue;
        reached[link.to] = true;
        queue.push_back(link.to);
      }
    }
    for (int rank = 0; rank < graph_.ranks; ++rank)
      if (!reached[rank]) return graph_.names[rank];
    return "";
  }

  int node_of(PartId part) {
    const auto [known, fresh] = nodes_.try_emplace(part, graph_.nodes());
    if (fresh) graph_.names.push_back(name_of(part));
    return known->second;
  }

  [[nodiscard]] std::string name_of(PartId part) const {
    if (part.worker >= 0) return cluster_.part_name(part);
    return cluster_.fabric() ? cluster_.fabric()->name(-1 - part.part) : "network";
  }

  /// In a network with rails, all cards with the same index share a switch.
  int end_of(PartId part, PartId card) {
    const bool rail = part.worker < 0 && !cluster_.fabric() && cluster_.network() &&
                      cluster_.network()->kind == Network::Kind::kRails;
    if (!rail) return node_of(part);
    const std::vector<int>& nics = cluster_.machine(card.worker).nics();
    const auto index =
        static_cast<int>(std::find(nics.begin(), nics.end(), card.part) - nics.begin());
    const auto [known, fresh] = rails_.try_emplace(index, graph_.nodes());
    if (fresh) graph_.names.push_back(fmt::format("rail{}", index));
    return known->second;
  }

  int link_of(const Hop& hop) {
    const auto [known, fresh] = links_.try_emplace(hop.link, static_cast<int>(bandwidths_.size()));
    if (fresh) {
      graph_.links.push_back({end_of(hop.from, hop.to), end_of(hop.to, hop.from), 0, hop.latency});
      bandwidths_.push_back(hop.bandwidth);
    }
    return known->second;
  }

  const Cluster& cluster_;
  FabricLinks which_;
  FabricGraph graph_;
  std::map<PartId, int> nodes_;
  std::map<int, int> rails_;
  std::map<LinkId, int> links_;
  std::vector<Bandwidth> bandwidths_;
  std::vector<Hop> route_;
};

}  // namespace

Expected<FabricGraph> fabric_of(const Cluster& cluster, FabricLinks links) {
  if (cluster.replicas() < 2)
    return tl::make_unexpected(
        Error::request({ProblemCode::kTooSmall, "--cluster"},
                       "a single rank does not communicate; use several GPUs or nodes"));
  if (cluster.replicas() > kMaxSynthesisRanks)
    return tl::make_unexpected(
        Error::request({ProblemCode::kTooLarge, "--nodes"},
                       fmt::format("{} ranks exceed the limit of {} for synthesis; use fewer nodes",
                                   cluster.replicas(), kMaxSynthesisRanks)));
  return GraphBuilder(cluster, links).build();
}

}  // namespace tutti::core::synthesis
