#include "core/synthesis/forest.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core::synthesis {

int Forest::depth() const {
  int deepest = 0;
  for (const SpanningTree& tree : all) {
    std::vector<int> depth(ranks, 0);
    for (const int rank : tree.order) {
      const int parent = tree.parent[rank];
      if (parent < 0) continue;
      depth[rank] = depth[parent] + 1;
      deepest = std::max(deepest, depth[rank]);
    }
  }
  return deepest;
}

double time_of_busiest_link(const FabricGraph& graph, const Forest& forest, Crossings crossings) {
  std::vector<std::int64_t> trees(graph.links.size(), 0);
  for (const SpanningTree& tree : forest.all) {
    for (const int rank : tree.order) {
      const int parent = tree.parent[rank];
      if (parent < 0) continue;
      if (crossings.down)
        for (const int link : graph.route(parent, rank)) trees[link] += tree.copies;
      if (crossings.up)
        for (const int link : graph.route(rank, parent)) trees[link] += tree.copies;
    }
  }
  double longest = 0;
  for (std::size_t i = 0; i < trees.size(); ++i)
    longest = std::max(longest, static_cast<double>(trees[i]) /
                                    static_cast<double>(graph.links[i].capacity * forest.trees));
  return longest;
}

std::string flaw_of(const Forest& forest) {
  Contributions copies(static_cast<std::size_t>(forest.ranks), 0);
  for (const SpanningTree& tree : forest.all) {
    std::vector<bool> reached(forest.ranks, false);
    for (const int rank : tree.order) {
      const int parent = tree.parent[rank];
      if (reached[rank] || (rank == tree.root ? parent >= 0 : parent < 0 || !reached[parent]))
        return fmt::format("the tree of {} does not lead to {}", tree.root, rank);
      reached[rank] = true;
    }
    if (static_cast<int>(tree.order.size()) != forest.ranks || tree.order.front() != tree.root)
      return fmt::format("a tree of {} does not span all ranks", tree.root);
    copies[tree.root] += tree.copies;
  }
  for (int rank = 0; rank < forest.ranks; ++rank) {
    const std::size_t at = rank;
    if (copies[at] != forest.contributions[at] * forest.trees)
      return fmt::format("{} has {} trees", rank, copies[at]);
  }
  return "";
}

}  // namespace tutti::core::synthesis
