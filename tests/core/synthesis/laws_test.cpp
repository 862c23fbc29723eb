// Properties of the steps from a fabric to trees, on random graphs: the optimum equals that of all
// cuts, switches can be removed without loss, and the trees span all ranks within the capacities.

#include <gtest/gtest.h>

#include <map>

#include "core/synthesis/edge_splitting.h"
#include "core/synthesis/forest.h"
#include "core/synthesis/max_flow.h"
#include "core/synthesis/tree_packing.h"
#include "core/synthesis/tree_size.h"
#include "tests/core/synthesis/graphs.h"

namespace tutti::core::synthesis {
namespace {

using test::enumerated_bound;
using test::random_graph;

constexpr int kGraphs = 400;

/// Returns an all-gather in two of three cases, and a broadcast in the third.
Contributions some_contributions(int number, const FabricGraph& graph) {
  return number % 3 == 0 ? all_of_root(graph.ranks, number % graph.ranks)
                         : one_of_each(graph.ranks);
}

TEST(MaxFlow, EqualsTheNarrowestCut) {
  MaxFlow flow(4);
  flow.add_arc(0, 1, 7);
  flow.add_arc(0, 2, 5);
  const int cross = flow.add_arc(1, 2, 4);
  flow.add_arc(1, 3, 3);
  flow.add_arc(2, 3, 6);
  EXPECT_EQ(flow.run(0, 3), 9);
  EXPECT_TRUE(flow.on_source_side(2));
  EXPECT_FALSE(flow.on_source_side(3));
  EXPECT_EQ(flow.run(0, 3, 2), 2) << "stops at its limit";
  flow.set_capacity(cross, 0);
  EXPECT_EQ(flow.run(0, 3), 8);
}

TEST(Optimum, MatchesTheMinimumOverAllCutsOfRandomGraphs) {
  std::mt19937 random(11);
  int connected = 0;
  for (int number = 0; number < kGraphs; ++number) {
    const FabricGraph graph = random_graph(random);
    const Contributions contributions = some_contributions(number, graph);
    const double bound = enumerated_bound(graph, contributions);
    const auto optimum = optimum_of(graph, contributions);
    EXPECT_EQ(optimum.has_value(), bound >= 0) << number;
    if (!optimum) continue;
    ++connected;
    EXPECT_NEAR(optimum->time.value(), bound, 1e-12 * bound) << number;
  }
  EXPECT_GT(connected, 300);
}

TEST(TreeSize, RoundsDownAndApproachesTheOptimumWithMoreTrees) {
  std::mt19937 random(12);
  for (int number = 0; number < kGraphs; ++number) {
    const FabricGraph graph = random_graph(random);
    const Contributions contributions = some_contributions(number, graph);
    const auto optimum = optimum_of(graph, contributions);
    if (!optimum) continue;
    const auto exact = exact_tree_size(graph, *optimum, 1'000'000);
    ASSERT_TRUE(exact) << number;
    EXPECT_TRUE(carries(graph, exact->capacities, contributions, exact->trees)) << number;
    const auto same = tree_size_with(graph, contributions, *optimum, exact->trees);
    ASSERT_TRUE(same) << number;
    EXPECT_EQ(same->above_optimum, 0) << number;
    if (const auto few = tree_size_with(graph, contributions, *optimum, 1)) {
      EXPECT_TRUE(carries(graph, few->capacities, contributions, 1)) << number;
      // Any time that suffices for one tree also suffices for twice as many trees of half the size.
      const auto twice = tree_size_with(graph, contributions, *optimum, 2);
      ASSERT_TRUE(twice) << number;
      EXPECT_LE(twice->above_optimum, few->above_optimum) << number;
    }
  }
}

/// Returns the graph of direct links as a fabric, so that the same tests apply to it.
FabricGraph as_fabric(const RankGraph& ranks) {
  FabricGraph graph;
  graph.ranks = ranks.ranks;
  graph.names.resize(static_cast<std::size_t>(ranks.ranks));
  for (const RankLink& link : ranks.links)
    graph.links.push_back({link.from, link.to, link.capacity, Time()});
  return graph;
}

TEST(EdgeSplitting, KeepsTheOptimumAndTreesFitTheCapacities) {
  std::mt19937 random(13);
  int packed = 0;
  for (int number = 0; number < kGraphs; ++number) {
    const FabricGraph graph = random_graph(random);
    const Contributions contributions = some_contributions(number, graph);
    const auto optimum = optimum_of(graph, contributions);
    if (!optimum) continue;
    const auto size = exact_tree_size(graph, *optimum, 1'000'000);
    ASSERT_TRUE(size) << number;
    const auto ranks = without_switches(graph, size->capacities, contributions, size->trees);
    ASSERT_TRUE(ranks) << number;
    const FabricGraph direct = as_fabric(*ranks);
    std::vector<std::int64_t> capacities;
    for (const FabricLink& link : direct.links) capacities.push_back(link.capacity);
    EXPECT_TRUE(carries(direct, capacities, contributions, size->trees)) << number;

    auto trees = pack_trees(*ranks, contributions, size->trees,
                            [](int from, int to) { return nanoseconds(900 + from + 3 * to); });
    ASSERT_TRUE(trees) << number;
    const Forest forest{graph.ranks, contributions, size->trees, std::move(*trees)};
    EXPECT_EQ(flaw_of(forest), "") << number;
    std::map<std::pair<int, int>, std::int64_t> used;
    for (const SpanningTree& tree : forest.all) {
      for (int rank = 0; rank < graph.ranks; ++rank) {
        const int parent = tree.parent[rank];
        if (parent >= 0) used[{parent, rank}] += tree.copies;
      }
    }
    for (const RankLink& link : ranks->links) used[{link.from, link.to}] -= link.capacity;
    for (const auto& [ends, over] : used)
      EXPECT_LE(over, 0) << number << ": " << ends.first << " to " << ends.second;
    ++packed;
  }
  EXPECT_GT(packed, 300);
}

TEST(EdgeSplitting, CanBeStopped) {
  std::mt19937 random(14);
  FabricGraph graph = random_graph(random);
  while (graph.nodes() == graph.ranks || !optimum_of(graph, one_of_each(graph.ranks)))
    graph = random_graph(random);
  const Contributions contributions = one_of_each(graph.ranks);
  const auto size = exact_tree_size(graph, *optimum_of(graph, contributions), 1'000'000);
  ASSERT_TRUE(size);
  EXPECT_FALSE(without_switches(graph, size->capacities, contributions, size->trees,
                                [](double) { return false; }));
  const auto ranks = without_switches(graph, size->capacities, contributions, size->trees);
  ASSERT_TRUE(ranks);
  EXPECT_FALSE(pack_trees(
      *ranks, contributions, size->trees, [](int, int) { return Time(1); },
      [](double) { return false; }));
}

TEST(FabricGraph, ReversedTwiceIsTheSame) {
  std::mt19937 random(15);
  const FabricGraph graph = random_graph(random);
  const FabricGraph back = reversed(reversed(graph));
  ASSERT_EQ(back.links.size(), graph.links.size());
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    EXPECT_EQ(back.links[i].from, graph.links[i].from);
    EXPECT_EQ(back.links[i].to, graph.links[i].to);
  }
  EXPECT_EQ(back.routes, graph.routes);
}

TEST(FabricGraph, CapacitiesAreBandwidthsOverTheirGreatestCommonDivisor) {
  FabricGraph graph;
  graph.links.resize(3);
  set_capacities(graph, {bandwidth_from_gb_per_s(370.8), bandwidth_from_gb_per_s(48),
                         bandwidth_from_gb_per_s(50)});
  EXPECT_EQ(graph.unit, bandwidth_from_gb_per_s(0.4));
  EXPECT_EQ(graph.links[0].capacity, 927);
  EXPECT_EQ(graph.links[1].capacity, 120);
  EXPECT_EQ(graph.links[2].capacity, 125);
  EXPECT_FALSE(graph.rounded);
  set_capacities(graph, {Bandwidth(999'999'999'989), Bandwidth(999'999'999'961), Bandwidth(7)});
  EXPECT_TRUE(graph.rounded);
  for (const FabricLink& link : graph.links) {
    EXPECT_GE(link.capacity, 1);
    EXPECT_LE(link.capacity, 1 << 21);
  }
}

}  // namespace
}  // namespace tutti::core::synthesis
