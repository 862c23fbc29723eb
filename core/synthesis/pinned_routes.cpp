#include "core/synthesis/pinned_routes.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tutti::core::synthesis {
namespace {

/// A narrow route over which a rank receives.
struct Flow {
  int from = 0;
  int to = 0;
  std::int64_t rate = -1;  ///< -1: not known yet
};

/// True for the links that routes of at least this capacity use.
std::vector<bool> links_of_wide_routes(const FabricGraph& graph, std::int64_t wide) {
  std::vector<bool> used(graph.links.size(), false);
  for (const std::vector<int>& route : graph.routes) {
    const bool is_wide = std::all_of(route.begin(), route.end(),
                                     [&](int link) { return graph.links[link].capacity >= wide; });
    if (!is_wide) continue;
    for (const int link : route) used[link] = true;
  }
  return used;
}

/// Chooses one narrow route to each rank, so that the routes begin at different ranks if possible.
std::vector<Flow> choose_flows(const FabricGraph& graph, const std::vector<bool>& taken) {
  std::vector<Flow> flows;
  std::vector<int> chosen(graph.ranks, 0);
  for (int to = 0; to < graph.ranks; ++to) {
    int best = -1;
    for (int from = 0; from < graph.ranks; ++from) {
      if (from == to || !graph.has_route(from, to)) continue;
      const std::vector<int>& route = graph.route(from, to);
      if (std::any_of(route.begin(), route.end(), [&](int link) { return taken[link]; })) continue;
      if (best < 0 || chosen[from] < chosen[best]) best = from;
    }
    if (best < 0) continue;
    ++chosen[best];
    flows.push_back({best, to, -1});
  }
  return flows;
}

/// The numbers by which capacities may have to be divided: counts of flows over a link.
std::int64_t common_multiple(const FabricGraph& graph, const std::vector<Flow>& flows) {
  constexpr std::int64_t kMax = 840;
  std::vector<std::int64_t> count(graph.links.size(), 0);
  for (const Flow& flow : flows)
    for (const int link : graph.route(flow.from, flow.to)) ++count[link];
  std::int64_t common = 1;
  for (const std::int64_t each : count) {
    if (each > 0 && std::lcm(common, each) <= kMax) common = std::lcm(common, each);
  }
  return common;
}

/// Divides the capacities among the flows: all rates grow together, until a link is full. Rates are
/// rounded down to integers.
void share(const FabricGraph& graph, std::int64_t scale, std::vector<Flow>& flows) {
  std::vector<std::int64_t> room;
  for (const FabricLink& link : graph.links) room.push_back(link.capacity * scale);
  for (std::size_t fixed = 0; fixed < flows.size();) {
    std::vector<std::int64_t> count(graph.links.size(), 0);
    for (const Flow& flow : flows) {
      if (flow.rate >= 0) continue;
      for (const int link : graph.route(flow.from, flow.to)) ++count[link];
    }
    std::size_t full = 0;
    std::int64_t lowest = -1;
    for (std::size_t link = 0; link < count.size(); ++link) {
      if (count[link] == 0) continue;
      const std::int64_t rate = room[link] / count[link];
      if (lowest < 0 || rate < lowest) lowest = rate, full = link;
    }
    for (Flow& flow : flows) {
      const std::vector<int>& route = graph.route(flow.from, flow.to);
      if (flow.rate >= 0 ||
          std::find(route.begin(), route.end(), static_cast<int>(full)) == route.end())
        continue;
      flow.rate = lowest;
      ++fixed;
      for (const int link : route) room[link] -= lowest;
    }
  }
}

}  // namespace

std::optional<PinnedFabric> with_pinned_routes(const FabricGraph& graph, std::int64_t wide) {
  std::vector<Flow> flows = choose_flows(graph, links_of_wide_routes(graph, wide));
  if (flows.empty()) return std::nullopt;
  PinnedFabric pinned{with_wide_routes(graph, wide), common_multiple(graph, flows)};
  share(graph, pinned.scale, flows);
  for (FabricLink& link : pinned.graph.links) link.capacity *= pinned.scale;
  for (const Flow& flow : flows) {
    if (flow.rate == 0) continue;
    const auto number = static_cast<int>(pinned.graph.links.size());
    pinned.graph.links.push_back(
        {flow.from, flow.to, flow.rate, graph.latency(flow.from, flow.to)});
    pinned.graph
        .routes[static_cast<std::size_t>(flow.from) * static_cast<std::size_t>(graph.ranks) +
                static_cast<std::size_t>(flow.to)] = {number};
  }
  return pinned;
}

}  // namespace tutti::core::synthesis
