#include "core/synthesis/fabric_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tutti::core::synthesis {
namespace {

/// The product of a sum of capacities and a number of trees must fit into 64 bits.
constexpr std::int64_t kMaxTotalCapacity = std::int64_t{1} << 32;

}  // namespace

Time FabricGraph::latency(int from, int to) const {
  Time sum;
  for (const int link : route(from, to)) sum += links[link].latency;
  return sum;
}

void set_capacities(FabricGraph& graph, const std::vector<Bandwidth>& bandwidths) {
  std::int64_t unit = 0;
  std::int64_t largest = 1;
  for (const Bandwidth bandwidth : bandwidths) {
    unit = std::gcd(unit, bandwidth.count());
    largest = std::max(largest, bandwidth.count());
  }
  if (unit == 0) unit = 1;
  const auto links = static_cast<std::int64_t>(bandwidths.size());
  if (largest / unit > kMaxTotalCapacity / std::max<std::int64_t>(1, links)) {
    unit = std::max<std::int64_t>(1, largest >> 20);
    graph.rounded = true;
  }
  graph.unit = Bandwidth(unit);
  for (std::size_t i = 0; i < bandwidths.size(); ++i)
    graph.links[i].capacity = std::max<std::int64_t>(1, bandwidths[i].count() / unit);
}

namespace {

std::int64_t narrowest_of(const FabricGraph& graph, const std::vector<int>& route) {
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (const int link : route) narrowest = std::min(narrowest, graph.links[link].capacity);
  return narrowest;
}

}  // namespace

Bandwidth FabricGraph::bandwidth(int from, int to) const {
  return unit * narrowest_of(*this, route(from, to));
}

FabricGraph with_wide_routes(const FabricGraph& graph, std::int64_t capacity) {
  FabricGraph wide = graph;
  wide.links.clear();
  std::vector<int> number(graph.links.size(), -1);
  for (std::vector<int>& route : wide.routes) {
    if (route.empty()) continue;
    if (narrowest_of(graph, route) < capacity) {
      route.clear();
      continue;
    }
    for (int& link : route) {
      const std::size_t old = link;
      if (number[old] < 0) {
        number[old] = static_cast<int>(wide.links.size());
        wide.links.push_back(graph.links[old]);
      }
      link = number[old];
    }
  }
  return wide;
}

std::vector<std::int64_t> route_capacities(const FabricGraph& graph) {
  std::vector<std::int64_t> capacities;
  for (const std::vector<int>& route : graph.routes)
    if (!route.empty()) capacities.push_back(narrowest_of(graph, route));
  std::sort(capacities.begin(), capacities.end());
  capacities.erase(std::unique(capacities.begin(), capacities.end()), capacities.end());
  return capacities;
}

FabricGraph with_merged_nodes(const FabricGraph& graph) {
  FabricGraph merged;
  merged.ranks = graph.ranks / graph.ranks_per_node;
  merged.unit = graph.unit;
  merged.rounded = graph.rounded;
  const auto number = [&](int node) {
    return node < graph.ranks ? node / graph.ranks_per_node : merged.ranks + node - graph.ranks;
  };
  for (int node = 0; node < graph.nodes(); ++node) {
    if (node >= graph.ranks || node % graph.ranks_per_node == 0)
      merged.names.push_back(graph.names[node]);
  }
  for (FabricLink link : graph.links) {
    link.from = number(link.from);
    link.to = number(link.to);
    if (link.from != link.to) merged.links.push_back(link);
  }
  merged.routes.resize(static_cast<std::size_t>(merged.ranks) *
                       static_cast<std::size_t>(merged.ranks));
  return merged;
}

FabricGraph reversed(const FabricGraph& graph) {
  FabricGraph turned = graph;
  for (FabricLink& link : turned.links) std::swap(link.from, link.to);
  const std::size_t ranks = graph.ranks;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      std::vector<int>& route = turned.routes[from * ranks + to];
      route = graph.routes[to * ranks + from];
      std::reverse(route.begin(), route.end());
    }
  }
  return turned;
}

}  // namespace tutti::core::synthesis
