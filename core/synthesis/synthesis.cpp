// Finds candidates that range from few rounds to full bandwidth, because the best one depends on
// the size of the data. Exchanges come first, in the order of their estimated times. They are
// followed by an all-reduce with sums in switches, a latency tree and the usual ring. Forests
// follow, for up to three sets of routes and five sizes each. The sizes are the fewest trees, the
// smallest number of trees within 2 % of the optimum, on small fabrics also within 0.5 %, the
// number closest to the optimum, and one with 1.5 % of spare time, which makes trees shallower. If
// no forest comes close to the optimum, narrow routes that share links are given to a few pairs
// (pinned_routes.h), and forests are packed again. For each forest, switches are split off
// (edge_splitting.cpp). Up to 32 orders are tried, because some leave fewer units off their routes.
// Then trees are packed (tree_packing.cpp). A forest is discarded if it needs a message between
// ranks without a route.
//
// A collective that only reduces uses trees of the reversed fabric, in the reverse direction. The
// caller simulates the candidates and chooses one.

#include "core/synthesis/synthesis.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/synthesis/delivery.h"
#include "core/synthesis/latency_tree.h"
#include "core/synthesis/max_flow.h"
#include "core/synthesis/pinned_routes.h"
#include "core/synthesis/tree_size.h"

namespace tutti::core::synthesis {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kBroadcast,
                                     CollectiveKind::kReduce};

/// The maximum number of trees of all ranks together.
constexpr std::int64_t kMaxTrees = 512;
/// The maximum number of trees per part.
constexpr std::int64_t kMaxTreesPerPart = 64;
/// The search stops at the first number of trees whose time exceeds the optimum by at most this
/// fraction.
constexpr double kCloseEnough = 0.001;
constexpr double kClose = 0.02;
constexpr double kCloser = 0.005;
/// The maximum number of exchanges among the candidates. The exchanges with the best estimates are
/// used.
constexpr std::size_t kExchanges = 4;
/// The maximum number of route sets that are tried. A route set is tried only if its optimal time
/// is at most `kMinGapToRefine` times the optimal time with all routes.
constexpr std::size_t kLevels = 3;
constexpr double kMinGapToRefine = 1.25;
/// Narrow routes are pinned if all forests exceed the optimum by more than the share
/// `kMinGapToPin`, and if there are at most `kMaxPinnedRanks` ranks.
constexpr double kMinGapToPin = 0.005;
constexpr int kMaxPinnedRanks = 64;
/// Links may be busy for longer than the optimal time by this share, so that trees can be
/// shallower.
constexpr double kSpare = 0.015;

Contributions contributions_of(const FabricGraph& graph, const Task& task) {
  return has_root(task.kind) ? all_of_root(graph.ranks, task.root) : one_of_each(graph.ranks);
}

/// True for a reduce and a reduce-scatter, which do not copy results to all ranks. Such collectives
/// use trees in the reverse direction, towards the roots.
bool only_reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kReduce;
}

class CandidateSearch {
 public:
  CandidateSearch(const FabricGraph& graph, const Task& task, const GoOn& go_on,
                  const std::function<void(Candidate)>& found)
      : graph_(graph),
        task_(task),
        go_on_(go_on),
        found_(found),
        contributions_(contributions_of(graph, task)) {}

  bool run() {
    const auto optimum = optimum_of(graph_, contributions_);
    if (!optimum) return true;
    whole_ = delivery_time(graph_, contributions_, optimum->time);
    offer_few_rounds();
    if (!offer_forests(levels_to_try())) return false;
    if (closest_ <= 1 + kMinGapToPin || graph_.ranks > kMaxPinnedRanks) return true;
    return offer_forests(pinned_levels());
  }

 private:
  [[nodiscard]] bool is_small() const { return graph_.ranks <= 16; }
  [[nodiscard]] bool go_on(double share) const { return !go_on_ || go_on_(std::min(1.0, share)); }

  /// A subset of the fabric's routes, and the optimum with these routes.
  struct Level {
    FabricGraph graph;
    Optimum optimum;
  };

  /// Returns false if the search was stopped.
  bool offer_forests(const std::vector<Level>& levels) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const std::vector<TreeSize> sizes = sizes_to_try(levels[l]);
      share_ = 1 / static_cast<double>(sizes.size() * levels.size());
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        done_ = static_cast<double>(l * sizes.size() + i) * share_;
        if (!offer_forest(levels[l], sizes[i])) return false;
      }
    }
    return true;
  }

  /// Returns sets of wide routes, with direct links in place of the narrow routes, if the direct
  /// links allow more than the wide routes alone.
  std::vector<Level> pinned_levels() const {
    std::vector<Level> levels;
    const std::vector<std::int64_t> capacities = route_capacities(graph_);
    for (std::size_t i = 1; i < capacities.size() && levels.size() < kLevels; ++i) {
      auto pinned = with_pinned_routes(graph_, capacities[i]);
      if (!pinned) continue;
      const auto optimum = optimum_of(pinned->graph, contributions_);
      if (!optimum ||
          optimum->time.value() * static_cast<double>(pinned->scale) >= closest_ * whole_.value())
        continue;
      levels.push_back({std::move(pinned->graph), *optimum});
    }
    return levels;
  }

  /// Returns the set of all routes, followed by sets without the narrow routes. Some links are on
  /// the routes of only few pairs of ranks, so trees cannot use such links as planned. Trees that
  /// avoid such links can be better.
  std::vector<Level> levels_to_try() const {
    std::vector<Level> levels;
    for (const std::int64_t capacity : route_capacities(graph_)) {
      FabricGraph wide = with_wide_routes(graph_, capacity);
      if (!levels.empty() && wide.links.size() == levels.back().graph.links.size()) continue;
      const auto optimum = optimum_of(wide, contributions_);
      if (!optimum ||
          (!levels.empty() &&
           optimum->time.value() > kMinGapToRefine * levels.front().optimum.time.value()))
        break;
      levels.push_back({std::move(wide), *optimum});
      if (levels.size() == kLevels) break;
    }
    return levels;
  }

  void offer_few_rounds() {
    std::vector<std::pair<Time, Exchange>> ranked;
    for (Exchange& one : exchanges_of(graph_.ranks, task_.kind)) {
      const Time time = estimate(one, task_.kind, graph_, task_.bytes);
      if (time == kNever) continue;
      ranked.emplace_back(time, std::move(one));
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (ranked.size() > kExchanges) ranked.resize(kExchanges);
    for (auto& [time, exchange] : ranked) {
      Candidate candidate;
      candidate.name = fmt::format("exchange {}{}", describe(exchange),
                                   exchange.whole_buffers ? ", whole buffers" : "");
      candidate.exchange = std::move(exchange);
      found_(std::move(candidate));
    }
    if (auto sums = switch_sums_for(graph_, task_.kind)) {
      Candidate candidate;
      candidate.name = sums->nodes > 1
                           ? fmt::format("sums in switches, rings of {} nodes", sums->nodes)
                           : "sums in switches";
      candidate.switch_sums = *sums;
      found_(std::move(candidate));
    }
    if (has_root(task_.kind)) offer(latency_tree(graph_, task_.root, task_.bytes), 0, "early tree");
    offer_ring();
  }

  /// Adds the usual ring as a candidate: every tree is a path in the order of the ranks.
  void offer_ring() {
    Forest ring{graph_.ranks, contributions_, 1, {}};
    for (int root = 0; root < graph_.ranks; ++root) {
      if (contributions_[root] == 0) continue;
      SpanningTree path{root, 1, std::vector<int>(graph_.ranks, -1), {}};
      for (int i = 0; i < graph_.ranks; ++i) {
        path.order.push_back((root + i) % graph_.ranks);
        if (i > 0) path.parent[path.order.back()] = path.order[i - 1];
      }
      ring.all.push_back(std::move(path));
    }
    const double time = uses_routes(ring) ? time_of_busiest_link(graph_, ring, {}) : 0;
    if (time > 0 && time <= kMinGapToRefine * whole_.value())
      offer(std::move(ring), 0, has_root(task_.kind) ? "chain" : "ring");
  }

  /// Returns the numbers of trees to try, from few trees to the optimum.
  std::vector<TreeSize> sizes_to_try(const Level& level) const {
    const std::int64_t parts = has_root(task_.kind) ? 1 : graph_.ranks;
    const std::int64_t most = std::clamp<std::int64_t>(kMaxTrees / parts, 1, kMaxTreesPerPart);
    std::vector<TreeSize> sizes;
    const auto add = [&](TreeSize size) {
      if (sizes.empty() || size.above_optimum < sizes.back().above_optimum)
        sizes.push_back(std::move(size));
    };
    const auto exact = exact_tree_size(level.graph, level.optimum, most);
    for (std::int64_t trees = 1; trees <= most; ++trees) {
      if (exact && trees == exact->trees) {
        add(*exact);
        break;
      }
      // On large fabrics, the numbers above 8 that are tried grow by about a quarter.
      if (trees > 8 && !is_small() && trees % (trees / 4) != 0) continue;
      if (auto size = tree_size_with(level.graph, contributions_, level.optimum, trees)) add(*size);
      if (!sizes.empty() && sizes.back().above_optimum <= kCloseEnough) break;
      if (!go_on(0)) break;
    }
    if (sizes.empty()) return sizes;
    // Three numbers are chosen: the fewest trees, the first number that is close to the optimum,
    // and the number closest to the optimum. On small fabrics, a number between the last two is
    // chosen, too.
    std::vector<TreeSize> chosen{sizes.front()};
    for (const double gap : {kClose, kCloser}) {
      const auto first = std::find_if(sizes.begin(), sizes.end(), [&](const TreeSize& size) {
        return size.above_optimum <= gap;
      });
      if (gap == kCloser && !is_small()) break;
      if (first < sizes.end() - 1 && first->trees > chosen.back().trees) chosen.push_back(*first);
    }
    if (sizes.size() > 1) chosen.push_back(sizes.back());
    if (auto spare = tree_size_with(level.graph, contributions_, level.optimum,
                                    chosen[chosen.size() / 2].trees, kSpare))
      chosen.insert(chosen.end() - 1, std::move(*spare));
    return chosen;
  }

  /// Returns false if the callback stopped the search.
  bool offer_forest(const Level& level, const TreeSize& size) {
    bool stopped = false;
    const auto part_of_work = [&](double from, double to) {
      return [this, from, to, &stopped](double share) {
        stopped = !go_on(done_ + share_ * (from + (to - from) * share));
        return !stopped;
      };
    };
    // Attempts differ in the number of units off their route. Many attempts are affordable only on
    // small fabrics.
    const std::uint64_t attempts = is_small() ? 32 : graph_.ranks <= 64 ? 6 : 1;
    std::optional<RankGraph> ranks;
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      auto tried = without_switches(level.graph, size.capacities, contributions_, size.trees,
                                    part_of_work(0, 0.5), attempt);
      if (stopped) return false;
      if (tried && (!ranks || tried->off_route < ranks->off_route)) ranks = std::move(tried);
      if (ranks && ranks->off_route == 0) break;
    }
    if (!ranks) return true;
    // On each hop, a piece is copied into memory and out of memory, which takes about a
    // microsecond.
    const auto cost = [&](int from, int to) { return graph_.latency(from, to) + microseconds(1); };
    auto trees = pack_trees(*ranks, contributions_, size.trees, cost, part_of_work(0.5, 1));
    if (!trees) return !stopped;
    Forest forest{graph_.ranks, contributions_, size.trees, std::move(*trees)};
    const std::string name = fmt::format("{} {}{}", size.trees, size.trees == 1 ? "tree" : "trees",
                                         has_root(task_.kind) ? "" : " per rank");
    if (uses_routes(forest)) offer(std::move(forest), ranks->off_route, name);
    return true;
  }

  /// Returns false if a tree uses a link between two ranks without a route.
  [[nodiscard]] bool uses_routes(const Forest& forest) const {
    for (const SpanningTree& tree : forest.all) {
      for (int rank = 0; rank < graph_.ranks; ++rank) {
        const int parent = tree.parent[rank];
        if (parent >= 0 && !graph_.has_route(parent, rank)) return false;
      }
    }
    return true;
  }

  void offer(Forest forest, std::int64_t off_route, const std::string& name) {
    if (std::any_of(offered_.begin(), offered_.end(),
                    [&](const auto& before) { return before == forest.all; }))
      return;
    offered_.push_back(forest.all);
    Candidate candidate;
    candidate.name = fmt::format("{}, depth {}", name, forest.depth());
    candidate.off_route = off_route;
    const bool both = task_.kind == CollectiveKind::kAllReduce;
    candidate.busiest_link =
        time_of_busiest_link(graph_, forest, {true, both}) / (whole_.value() * (both ? 2 : 1));
    closest_ = std::min(closest_, candidate.busiest_link);
    candidate.forest = std::move(forest);
    found_(std::move(candidate));
  }

  const FabricGraph& graph_;
  const Task& task_;
  const GoOn& go_on_;
  const std::function<void(Candidate)>& found_;
  Contributions contributions_;
  Ratio whole_;  ///< lower bound on the time per part for the whole fabric
  std::vector<std::vector<SpanningTree>> offered_;
  double closest_ = std::numeric_limits<double>::infinity();  ///< the lowest busiest_link so far
  double done_ = 0;
  double share_ = 1;
};

}  // namespace

bool can_synthesize(CollectiveKind kind) {
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

std::string synthesized_collectives() {
  std::string names;
  for (const CollectiveKind kind : kKinds)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(kind));
  return names;
}

std::string text_of(const Candidate& candidate, CollectiveKind kind, const TextOptions& options) {
  if (candidate.forest) return text_of(*candidate.forest, kind, options);
  if (candidate.switch_sums) return text_of(*candidate.switch_sums, options);
  return text_of(*candidate.exchange, kind, options);
}

namespace {

/// Returns the time in which a bandwidth of `per_second` moves `bytes`. Times that are too long
/// become kLongestDuration. Below this duration, nothing overflows 128 bits.
Time moving_time(Wide bytes, Wide per_second) {
  const Wide seconds = bytes / per_second;
  const Wide rest = bytes % per_second;
  if (seconds > static_cast<Wide>(kLongestDuration.count() / kPicosecondsPerSecond))
    return kLongestDuration;
  const auto fraction = static_cast<double>(rest) / static_cast<double>(per_second);
  return Time(static_cast<std::int64_t>(seconds) * kPicosecondsPerSecond +
              static_cast<std::int64_t>(fraction * static_cast<double>(kPicosecondsPerSecond)));
}

}  // namespace

std::optional<BandwidthBound> bandwidth_bound(const FabricGraph& graph, const Task& task) {
  const FabricGraph turned = only_reduces(task.kind) ? reversed(graph) : graph;
  const auto optimum = optimum_of(turned, contributions_of(graph, task));
  if (!optimum) return std::nullopt;
  BandwidthBound bound;
  bound.per_part = delivery_time(turned, contributions_of(graph, task), optimum->time);
  bound.inside = optimum->cut;
  bound.by_cut = bound.per_part.value() == optimum->time.value();
  const std::int64_t parts = has_root(task.kind) ? 1 : graph.ranks;
  const std::int64_t times =
      bound.per_part.numerator * (task.kind == CollectiveKind::kAllReduce ? 2 : 1);
  // A link of capacity 1 carries numerator / (parts · denominator) of all bytes.
  const Wide bytes = static_cast<Wide>(task.bytes.count()) * static_cast<Wide>(times);
  const Wide per_second = static_cast<Wide>(graph.unit.count()) * static_cast<Wide>(parts) *
                          static_cast<Wide>(bound.per_part.denominator);
  bound.time = moving_time(bytes, per_second);
  return bound;
}

namespace {

/// Returns the lower bound on the time of an all-reduce between the nodes of the cluster, each of
/// which has all of its ranks. Every byte must leave and enter every node once, and all nodes
/// together send at least 2 (nodes - 1) times the buffer. Returns nullopt if the fabric does not
/// connect the nodes.
std::optional<Time> bound_between_nodes(const FabricGraph& graph, Bytes bytes) {
  const FabricGraph merged = with_merged_nodes(graph);
  MaxFlow flow(merged.nodes());
  for (const FabricLink& link : merged.links) flow.add_arc(link.from, link.to, link.capacity);
  const int source = flow.add_node(), sink = flow.add_node();
  std::vector<int> sources, sinks;
  for (int node = 0; node < merged.ranks; ++node) {
    sources.push_back(flow.add_arc(source, node, 0));
    sinks.push_back(flow.add_arc(node, sink, 0));
  }
  std::int64_t narrowest = MaxFlow::kUnbounded;
  Wide all = 0;
  for (int node = 0; node < merged.ranks; ++node) {
    for (const bool leaves : {true, false}) {
      for (int other = 0; other < merged.ranks; ++other) {
        const bool is_source = (other == node) == leaves;
        flow.set_capacity(sources[other], is_source ? MaxFlow::kUnbounded : 0);
        flow.set_capacity(sinks[other], is_source ? 0 : MaxFlow::kUnbounded);
      }
      const std::int64_t capacity = flow.run(source, sink);
      if (capacity == 0) return std::nullopt;
      narrowest = std::min(narrowest, capacity);
      if (leaves) all += static_cast<Wide>(capacity);
    }
  }
  const Wide buffer = static_cast<Wide>(bytes.count()),
             unit = static_cast<Wide>(graph.unit.count());
  const Wide times = 2 * static_cast<Wide>(merged.ranks - 1);
  return std::max(moving_time(buffer, unit * static_cast<Wide>(narrowest)),
                  moving_time(buffer * times, unit * all));
}

}  // namespace

std::optional<Time> bound_with_switches(const FabricGraph& graph, const Task& task) {
  if (!switch_sums_for(graph, task.kind)) return std::nullopt;
  std::vector<std::int64_t> out(graph.nodes(), 0);
  std::vector<std::int64_t> in(graph.nodes(), 0);
  for (const FabricLink& link : graph.links) {
    out[link.from] += link.capacity;
    in[link.to] += link.capacity;
  }
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (int rank = 0; rank < graph.ranks; ++rank)
    narrowest = std::min(narrowest, std::min(out[rank], in[rank]));
  const Time bound =
      moving_time(static_cast<Wide>(task.bytes.count()),
                  static_cast<Wide>(graph.unit.count()) * static_cast<Wide>(narrowest));
  if (graph.ranks == graph.ranks_per_node) return bound;
  const auto between = bound_between_nodes(graph, task.bytes);
  if (!between) return std::nullopt;
  return std::max(bound, *between);
}

bool find_candidates(const FabricGraph& graph, const Task& task, const GoOn& go_on,
                     const std::function<void(Candidate)>& found) {
  if (!only_reduces(task.kind)) return CandidateSearch(graph, task, go_on, found).run();
  const FabricGraph turned = reversed(graph);
  return CandidateSearch(turned, task, go_on, found).run();
}

}  // namespace tutti::core::synthesis
