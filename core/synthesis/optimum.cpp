#include "core/synthesis/optimum.h"

#include <numeric>

#include "core/synthesis/max_flow.h"

namespace tutti::core::synthesis {
namespace {

/// The flow network of the fabric: its links, and a source from which each rank gets its own
/// contribution.
class OfferedFlow {
 public:
  OfferedFlow(const FabricGraph& graph, const Contributions& contributions)
      : graph_(graph),
        contributions_(contributions),
        flow_(graph.nodes() + 1),
        total_(std::accumulate(contributions.begin(), contributions.end(), std::int64_t{0})) {
    for (const FabricLink& link : graph.links) flow_.add_arc(link.from, link.to, 0);
    for (int rank = 0; rank < graph.ranks; ++rank) flow_.add_arc(graph.nodes(), rank, 0);
  }

  [[nodiscard]] std::int64_t total() const { return total_; }

  void set(const std::vector<std::int64_t>& capacities, std::int64_t per_part) {
    for (std::size_t i = 0; i < capacities.size(); ++i)
      flow_.set_capacity(static_cast<int>(i), capacities[i]);
    for (std::size_t rank = 0; rank < contributions_.size(); ++rank)
      flow_.set_capacity(static_cast<int>(capacities.size() + rank),
                         contributions_[rank] * per_part);
  }

  /// True if the contributions of all ranks can reach `rank` at the same time.
  bool all_reaches(int rank, std::int64_t per_part) {
    const std::int64_t all = total_ * per_part;
    return flow_.run(graph_.nodes(), rank, all) == all;
  }

  /// Returns, for each node, whether it is on the source's side of the minimum cut. REQUIRES:
  /// all_reaches() has returned false.
  [[nodiscard]] std::vector<bool> cut() const {
    std::vector<bool> inside;
    for (int node = 0; node < graph_.nodes(); ++node) inside.push_back(flow_.on_source_side(node));
    return inside;
  }

 private:
  const FabricGraph& graph_;
  const Contributions& contributions_;
  MaxFlow flow_;
  std::int64_t total_;
};

/// Returns the time that a cut needs: the contributions of the ranks inside, divided by the
/// capacity of the links that leave the cut. Returns nullopt if no link leaves the cut.
std::optional<Ratio> time_of_cut(const FabricGraph& graph, const Contributions& contributions,
                                 const std::vector<bool>& inside) {
  Ratio time{0, 0};
  for (std::size_t rank = 0; rank < contributions.size(); ++rank)
    if (inside[rank]) time.numerator += contributions[rank];
  for (const FabricLink& link : graph.links) {
    if (inside[link.from] && !inside[link.to]) time.denominator += link.capacity;
  }
  if (time.denominator == 0) return std::nullopt;
  const std::int64_t common = std::gcd(time.numerator, time.denominator);
  return Ratio{time.numerator / common, time.denominator / common};
}

}  // namespace

Contributions one_of_each(int ranks) { return Contributions(static_cast<std::size_t>(ranks), 1); }

Contributions all_of_root(int ranks, int root) {
  Contributions all(static_cast<std::size_t>(ranks), 0);
  all[root] = 1;
  return all;
}

std::optional<Optimum> optimum_of(const FabricGraph& graph, const Contributions& contributions) {
  OfferedFlow flow(graph, contributions);
  // The search begins with a cut (set S in optimum.h) that contains all nodes except one rank.
  Optimum best;
  int last = 0;
  while (last < graph.ranks && contributions[last] == flow.total())
    ++last;  // the cut must contain a rank with a contribution
  best.cut.assign(graph.nodes(), true);
  best.cut[last] = false;
  auto time = time_of_cut(graph, contributions, best.cut);
  if (!time) return std::nullopt;
  best.time = *time;
  std::vector<std::int64_t> capacities(graph.links.size());
  int passed = 0;  // number of consecutive ranks for which the current time is enough
  for (int rank = 0; passed < graph.ranks; rank = (rank + 1) % graph.ranks) {
    for (std::size_t i = 0; i < capacities.size(); ++i)
      capacities[i] = graph.links[i].capacity * best.time.numerator;
    flow.set(capacities, best.time.denominator);
    if (flow.all_reaches(rank, best.time.denominator)) {
      ++passed;
      continue;
    }
    passed = 0;
    best.cut = flow.cut();
    time = time_of_cut(graph, contributions, best.cut);
    if (!time) return std::nullopt;
    best.time = *time;
  }
  return best;
}

bool carries(const FabricGraph& graph, const std::vector<std::int64_t>& capacities,
             const Contributions& contributions, std::int64_t trees) {
  OfferedFlow flow(graph, contributions);
  flow.set(capacities, trees);
  for (int rank = 0; rank < graph.ranks; ++rank) {
    if (!flow.all_reaches(rank, trees)) return false;
  }
  return true;
}

}  // namespace tutti::core::synthesis
