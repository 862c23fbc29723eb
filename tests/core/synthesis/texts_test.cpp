// Texts of synthesized schedules. The checker proves each, in and out of place, for sizes that the
// number of trees divides and for others.

#include <gtest/gtest.h>

#include "core/custom/custom_algorithm.h"
#include "core/schedule/checker.h"
#include "core/synthesis/edge_splitting.h"
#include "core/synthesis/synthesis.h"
#include "core/synthesis/tree_size.h"
#include "tests/core/custom/shipped.h"
#include "tests/core/synthesis/graphs.h"
#include "tests/support/problems.h"

namespace tutti::core::synthesis {
namespace {

using test::random_graph;

/// Proves a text for every useful length of the collective's buffer.
void expect_proved(const std::string& text, CollectiveKind kind, int ranks, int root,
                   const std::string& what, int ranks_per_node = 1) {
  Problems problems;
  const auto algorithm = test::algorithm_of(text, {ranks, ranks_per_node, root}, problems);
  ASSERT_TRUE(algorithm) << what << test::placed(problems) << text;
  for (std::int64_t elements : {1, 13, 240}) {
    if (has_blocks(kind)) elements *= ranks;
    for (const bool out_of_place : {false, true}) {
      const Contract contract = Contract::of(kind, ranks, elements, root, out_of_place);
      const auto schedule = test::schedule_of(*algorithm, contract, Engine::kKernel);
      ASSERT_EQ(check(*schedule, contract), std::vector<Violation>())
          << what << ", " << elements << " elements, out of place " << out_of_place << '\n'
          << text;
    }
  }
}

/// Returns a graph in which every pair of ranks has a route of one link.
FabricGraph with_direct_routes(int ranks) {
  FabricGraph graph;
  graph.ranks = ranks;
  graph.names.resize(static_cast<std::size_t>(ranks));
  graph.routes.resize(static_cast<std::size_t>(ranks * ranks));
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from == to) continue;
      graph.routes[from * ranks + to] = {static_cast<int>(graph.links.size())};
      graph.links.push_back({from, to, 1 + (from + to) % 3, nanoseconds(700 + 31 * from)});
    }
  }
  return graph;
}

/// Returns the trees of a random graph, as many as the optimum needs. Returns nothing if the graph
/// is not connected.
std::optional<Forest> forest_of(const FabricGraph& graph, const Contributions& contributions) {
  const auto optimum = optimum_of(graph, contributions);
  if (!optimum) return std::nullopt;
  const auto size = exact_tree_size(graph, *optimum, 1'000'000);
  if (!size) return std::nullopt;
  const auto ranks = without_switches(graph, size->capacities, contributions, size->trees);
  if (!ranks) return std::nullopt;
  auto trees =
      pack_trees(*ranks, contributions, size->trees, [](int, int) { return microseconds(1); });
  if (!trees) return std::nullopt;
  return Forest{graph.ranks, contributions, size->trees, std::move(*trees)};
}

TEST(ForestText, IsProvedForTreesOfRandomGraphs) {
  std::mt19937 random(21);
  int proved = 0;
  for (int number = 0; number < 24; ++number) {
    const FabricGraph graph = random_graph(random);
    const int root = number % graph.ranks;
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce,
          CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
      const auto forest = forest_of(
          graph, has_root(kind) ? all_of_root(graph.ranks, root) : one_of_each(graph.ranks));
      if (!forest) continue;
      TextOptions options;
      options.pieces = 1 + number % 3;
      expect_proved(text_of(*forest, kind, options), kind, graph.ranks, has_root(kind) ? root : 0,
                    fmt::format("{}: {}", number, to_string(kind)));
      if (HasFatalFailure()) return;
      ++proved;
    }
  }
  EXPECT_GT(proved, 60);
}

TEST(Candidates, AreProvedAndNotFasterThanTheBound) {
  for (const int ranks : {2, 3, 5, 8}) {
    const FabricGraph graph = with_direct_routes(ranks);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce,
          CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
      const int root = has_root(kind) ? ranks - 1 : 0;
      double closest = 1e9;
      EXPECT_TRUE(
          find_candidates(graph, {kind, root, Bytes(1 << 20)}, {}, [&](const Candidate& candidate) {
            expect_proved(text_of(candidate, kind, {}), kind, ranks, root, candidate.name);
            if (!candidate.forest) return;
            EXPECT_EQ(flaw_of(*candidate.forest), "");
            EXPECT_EQ(candidate.off_route, 0);
            if (kind != CollectiveKind::kAllReduce) {
              EXPECT_GE(candidate.busiest_link, 1 - 1e-12);
            }
            closest = std::min(closest, candidate.busiest_link);
          }));
      EXPECT_LE(closest, 1.02) << ranks << " ranks, " << to_string(kind);
    }
  }
}

TEST(ExchangeText, IsProvedForAllFactorizations) {
  for (const int ranks : {2, 3, 6, 8, 12}) {
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
      for (const Exchange& exchange : exchanges_of(ranks, kind))
        expect_proved(text_of(exchange, kind, {}), kind, ranks, 0,
                      fmt::format("{} {}", to_string(kind), describe(exchange)));
    }
  }
}

TEST(SwitchSumsText, IsProvedForAllShapesAndPieces) {
  for (const int nodes : {1, 2, 3, 5}) {
    for (const int gpus : {2, 3, 8}) {
      for (const int pieces : {1, 2, 3, 5, 8}) {
        TextOptions options;
        options.pieces = pieces;
        expect_proved(text_of(SwitchSums{nodes, gpus}, options), CollectiveKind::kAllReduce,
                      nodes * gpus, 0, fmt::format("{} x {}, {} pieces", nodes, gpus, pieces),
                      gpus);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Exchanges, AreTheOrderedFactorizationsOfTheRanks) {
  EXPECT_EQ(exchanges_of(32, CollectiveKind::kAllGather).size(), 16u);
  EXPECT_EQ(exchanges_of(12, CollectiveKind::kAllGather).size(), 8u);
  EXPECT_EQ(exchanges_of(12, CollectiveKind::kAllReduce).size(), 16u);
  EXPECT_TRUE(exchanges_of(12, CollectiveKind::kBroadcast).empty());
}

}  // namespace
}  // namespace tutti::core::synthesis
