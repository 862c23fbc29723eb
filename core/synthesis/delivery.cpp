#include "core/synthesis/delivery.h"

#include <numeric>
#include <set>
#include <utility>

#include "core/synthesis/max_flow.h"

namespace tutti::core::synthesis {

Ratio delivery_time(const FabricGraph& graph, const Contributions& contributions, Ratio at_least) {
  const int links = static_cast<int>(graph.links.size());
  // The flow graph has one source, one sink, two nodes for each link (its two ends), and one node
  // for each rank (as a receiver).
  const int first_rank = 2 * links;
  const int source = first_rank + graph.ranks;
  const int sink = source + 1;
  MaxFlow flow(sink + 1);
  for (int link = 0; link < links; ++link) flow.add_arc(2 * link, 2 * link + 1, 0);
  std::set<std::pair<int, int>> turns;
  for (int from = 0; from < graph.ranks; ++from) {
    for (int to = 0; to < graph.ranks; ++to) {
      const std::vector<int>& route = graph.route(from, to);
      if (route.empty()) continue;
      turns.emplace(source, 2 * route.front());
      for (std::size_t i = 0; i + 1 < route.size(); ++i)
        turns.emplace(2 * route[i] + 1, 2 * route[i + 1]);
      turns.emplace(2 * route.back() + 1, first_rank + to);
    }
  }
  for (const auto& [from, to] : turns) flow.add_arc(from, to, MaxFlow::kUnbounded);
  const int first_demand = flow.arcs();
  const std::int64_t all =
      std::accumulate(contributions.begin(), contributions.end(), std::int64_t{0});
  std::vector<std::int64_t> demands;
  for (int rank = 0; rank < graph.ranks; ++rank) {
    demands.push_back(all - contributions[rank]);
    flow.add_arc(first_rank + rank, sink, 0);
  }
  Ratio time = at_least;
  while (true) {
    for (int link = 0; link < links; ++link)
      flow.set_capacity(link, graph.links[link].capacity * time.numerator);
    std::int64_t wanted = 0;
    for (int rank = 0; rank < graph.ranks; ++rank) {
      const std::int64_t demand = demands[rank] * time.denominator;
      flow.set_capacity(first_demand + rank, demand);
      wanted += demand;
    }
    if (flow.run(source, sink) == wanted) return time;
    // If the flow is too small, its minimum cut gives a longer time: the bytes for the ranks behind
    // the cut, divided by the capacity across the cut.
    Ratio longer{0, 0};
    for (int rank = 0; rank < graph.ranks; ++rank)
      if (!flow.on_source_side(first_rank + rank)) longer.numerator += demands[rank];
    for (int link = 0; link < links; ++link)
      if (flow.on_source_side(2 * link) && !flow.on_source_side(2 * link + 1))
        longer.denominator += graph.links[link].capacity;
    if (longer.denominator == 0) return time;  // no routes at all
    const std::int64_t common = std::gcd(longer.numerator, longer.denominator);
    time = {longer.numerator / common, longer.denominator / common};
  }
}

}  // namespace tutti::core::synthesis
