#include "core/synthesis/fabric_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tutti::core::synthesis {
namespace {

/// Sums of capacities, multiplied by the number of trees, have to fit into 64 bits.
constexpr std::int64_t kMaxTotalCapacity = std::int64_t{1} << 32;

}  // namespace

Time FabricGraph::latency(int from, int to) const {
  Time sum;
  for (const int link : route(from, to)) sum += links[static_cast<std::size_t>(link)].latency;
  return sum;
}

Bandwidth FabricGraph::bandwidth(int from, int to) const {
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (const int link : route(from, to))
    narrowest = std::min(narrowest, links[static_cast<std::size_t>(link)].capacity);
  return unit * narrowest;
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

FabricGraph reversed(const FabricGraph& graph) {
  FabricGraph turned = graph;
  for (FabricLink& link : turned.links) std::swap(link.from, link.to);
  const auto ranks = static_cast<std::size_t>(graph.ranks);
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
