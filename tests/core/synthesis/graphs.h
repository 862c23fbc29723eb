#pragma once

// Small graphs for the property tests of synthesis.

#include <random>
#include <string>

#include <fmt/format.h>

#include "core/synthesis/optimum.h"

namespace tutti::test {

/// Returns a graph whose links have the same capacity in both directions, with at most one link per
/// direction between two nodes. It may be disconnected.
inline core::synthesis::FabricGraph random_graph(std::mt19937& random) {
  core::synthesis::FabricGraph graph;
  graph.ranks = 2 + static_cast<int>(random() % 5);
  const int nodes = graph.ranks + static_cast<int>(random() % 4);
  for (int node = 0; node < nodes; ++node) graph.names.push_back(fmt::format("n{}", node));
  for (int a = 0; a < nodes; ++a) {
    for (int b = a + 1; b < nodes; ++b) {
      if (random() % 3 == 0) continue;
      const auto capacity = static_cast<std::int64_t>(1 + random() % 6);
      graph.links.push_back({a, b, capacity, core::Time()});
      graph.links.push_back({b, a, capacity, core::Time()});
    }
  }
  const auto ranks = static_cast<std::size_t>(graph.ranks);
  graph.routes.resize(ranks * ranks);
  return graph;
}

/// Returns the lower bound by enumeration of all sets of nodes: the maximum ratio of a set's
/// contributions to the capacity of the links that leave it. Negative if some set has no outgoing
/// link.
inline double enumerated_bound(const core::synthesis::FabricGraph& graph,
                               const core::synthesis::Contributions& contributions) {
  double worst = 0;
  const std::uint32_t all_ranks = (1U << graph.ranks) - 1;
  for (std::uint32_t set = 1; set < 1U << graph.nodes(); ++set) {
    if ((set & all_ranks) == all_ranks) continue;
    std::int64_t inside = 0;
    std::int64_t out = 0;
    for (int rank = 0; rank < graph.ranks; ++rank)
      if ((set >> rank & 1U) != 0) inside += contributions[rank];
    for (const core::synthesis::FabricLink& link : graph.links)
      if ((set >> link.from & 1U) != 0 && (set >> link.to & 1U) == 0) out += link.capacity;
    if (inside == 0) continue;
    if (out == 0) return -1;
    worst = std::max(worst, static_cast<double>(inside) / static_cast<double>(out));
  }
  return worst;
}

}  // namespace tutti::test
