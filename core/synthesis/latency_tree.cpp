#include "core/synthesis/latency_tree.h"

namespace tutti::core::synthesis {

Forest latency_tree(const FabricGraph& graph, int root, Bytes bytes) {
  const std::size_t ranks = graph.ranks;
  // The time of a send depends only on its two ranks, so all times are computed in advance.
  std::vector<Time> sending(ranks * ranks), latency(ranks * ranks);
  for (int from = 0; from < graph.ranks; ++from) {
    for (int to = 0; to < graph.ranks; ++to) {
      if (from == to || !graph.has_route(from, to)) continue;
      const std::size_t at = static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to);
      sending[at] = transfer_time(bytes, graph.bandwidth(from, to));
      latency[at] = graph.latency(from, to);
    }
  }
  SpanningTree tree{root, 1, std::vector<int>(ranks, -1), {root}};
  std::vector<Time> free(ranks, kNever);  // by rank: the time at which it can send next
  free[root] = Time();
  while (tree.order.size() < ranks) {
    Time earliest = kNever;
    std::size_t from = 0, to = 0;
    for (const int sender : tree.order) {
      const std::size_t s = sender;
      for (std::size_t r = 0; r < ranks; ++r) {
        if (free[r] != kNever || sending[s * ranks + r] == Time()) continue;
        const Time end = free[s] + sending[s * ranks + r] + latency[s * ranks + r];
        if (end < earliest) earliest = end, from = s, to = r;
      }
    }
    free[from] += sending[from * ranks + to];
    free[to] = earliest;
    tree.parent[to] = static_cast<int>(from);
    tree.order.push_back(static_cast<int>(to));
  }
  return {graph.ranks, all_of_root(graph.ranks, root), 1, {std::move(tree)}};
}

}  // namespace tutti::core::synthesis
