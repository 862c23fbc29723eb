#include "core/synthesis/synthesis.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/synthesis/latency_tree.h"
#include "core/synthesis/tree_size.h"

namespace tutti::core::synthesis {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kBroadcast,
                                     CollectiveKind::kReduce};

/// Trees of all ranks together that are tried.
constexpr std::int64_t kMaxTrees = 512;
/// Per part.
constexpr std::int64_t kMaxTreesPerPart = 64;
/// A number of trees within this of the optimum needs no more trees.
constexpr double kCloseEnough = 0.001;
constexpr double kClose = 0.02;
/// Exchanges that are handed out, the best by their estimates.
constexpr std::size_t kExchanges = 4;

Contributions contributions_of(const FabricGraph& graph, const Task& task) {
  return has_root(task.kind) ? all_of_root(graph.ranks, task.root) : one_of_each(graph.ranks);
}

/// Reductions run trees backwards.
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
    offer_few_rounds();
    const auto optimum = optimum_of(graph_, contributions_);
    if (!optimum) return true;
    optimum_ = *optimum;
    std::vector<TreeSize> sizes = sizes_to_try();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      done_ = static_cast<double>(i) / static_cast<double>(sizes.size());
      share_ = 1 / static_cast<double>(sizes.size());
      if (!offer_forest(std::move(sizes[i]))) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool go_on(double share) const {
    return !go_on_ || go_on_(std::min(1.0, share));
  }

  void offer_few_rounds() {
    std::vector<std::pair<Time, Exchange>> ranked;
    for (Exchange& one : exchanges_of(graph_.ranks, task_.kind)) {
      const Time time = estimate(one, task_.kind, graph_, task_.bytes);
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
    if (has_root(task_.kind)) offer(latency_tree(graph_, task_.root, task_.bytes), 0, "early tree");
  }

  /// From few trees to the optimum.
  std::vector<TreeSize> sizes_to_try() const {
    const std::int64_t parts = has_root(task_.kind) ? 1 : graph_.ranks;
    const std::int64_t most =
        std::clamp<std::int64_t>(kMaxTrees / parts, 1, kMaxTreesPerPart);
    std::vector<TreeSize> sizes;
    const auto add = [&](TreeSize size) {
      if (sizes.empty() || size.above_optimum < sizes.back().above_optimum)
        sizes.push_back(std::move(size));
    };
    const auto exact = exact_tree_size(graph_, optimum_, most);
    for (std::int64_t trees = 1; trees <= most; ++trees) {
      if (exact && trees == exact->trees) {
        add(*exact);
        break;
      }
      // Beyond 8, numbers grow by a quarter.
      if (trees > 8 && trees % (trees / 4) != 0) continue;
      if (auto size = tree_size_with(graph_, contributions_, optimum_, trees)) add(*size);
      if (!sizes.empty() && sizes.back().above_optimum <= kCloseEnough) break;
      if (!go_on(0)) break;
    }
    if (sizes.size() <= 3) return sizes;
    // The fewest trees, the first that are close to the optimum, and the closest.
    const auto close = std::find_if(sizes.begin(), sizes.end(), [](const TreeSize& size) {
      return size.above_optimum <= kClose;
    });
    std::vector<TreeSize> chosen{sizes.front()};
    if (close != sizes.begin() && close < sizes.end() - 1) chosen.push_back(*close);
    chosen.push_back(sizes.back());
    return chosen;
  }

  /// False if it was stopped.
  bool offer_forest(TreeSize size) {
    bool stopped = false;
    const auto part_of_work = [&](double from, double to) {
      return [this, from, to, &stopped](double share) {
        stopped = !go_on(done_ + share_ * (from + (to - from) * share));
        return !stopped;
      };
    };
    const auto ranks = without_switches(graph_, size.capacities, contributions_, size.trees,
                                        part_of_work(0, 0.5));
    if (!ranks) return !stopped;
    // Each further link costs a copy into memory and out again, about a microsecond.
    const auto cost = [&](int from, int to) {
      return graph_.latency(from, to) + microseconds(1);
    };
    auto trees = pack_trees(*ranks, contributions_, size.trees, cost, part_of_work(0.5, 1));
    if (!trees) return !stopped;
    Forest forest{graph_.ranks, contributions_, size.trees, std::move(*trees)};
    const std::string name = fmt::format(
        "{} {}{}", size.trees, size.trees == 1 ? "tree" : "trees",
        has_root(task_.kind) ? "" : " per rank");
    offer(std::move(forest), ranks->off_route, name);
    return true;
  }

  void offer(Forest forest, std::int64_t off_route, const std::string& name) {
    Candidate candidate;
    candidate.name = fmt::format("{}, depth {}", name, forest.depth());
    candidate.off_route = off_route;
    const bool both = task_.kind == CollectiveKind::kAllReduce;
    if (const auto optimum = optimum_of(graph_, contributions_))
      candidate.busiest_link = time_of_busiest_link(graph_, forest, {true, both}) /
                               (optimum->time.value() * (both ? 2 : 1));
    candidate.forest = std::move(forest);
    found_(std::move(candidate));
  }

  const FabricGraph& graph_;
  const Task& task_;
  const GoOn& go_on_;
  const std::function<void(Candidate)>& found_;
  Contributions contributions_;
  Optimum optimum_;
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
  return candidate.forest ? text_of(*candidate.forest, kind, options)
                          : text_of(*candidate.exchange, kind, options);
}

std::optional<BandwidthBound> bandwidth_bound(const FabricGraph& graph, const Task& task) {
  const FabricGraph turned = only_reduces(task.kind) ? reversed(graph) : graph;
  const auto optimum = optimum_of(turned, contributions_of(graph, task));
  if (!optimum) return std::nullopt;
  BandwidthBound bound;
  bound.per_part = optimum->time;
  bound.inside = optimum->cut;
  const std::int64_t parts = has_root(task.kind) ? 1 : graph.ranks;
  const std::int64_t times =
      optimum->time.numerator * (task.kind == CollectiveKind::kAllReduce ? 2 : 1);
  // numerator / (parts · denominator) of the bytes cross a link of one unit.
  const Wide bytes = static_cast<Wide>(task.bytes.count()) * static_cast<Wide>(times);
  const Wide per_second = static_cast<Wide>(graph.unit.count()) * static_cast<Wide>(parts) *
                          static_cast<Wide>(optimum->time.denominator);
  const Wide seconds = bytes / per_second;
  const Wide rest = bytes % per_second;
  // Bounds of days are not told apart; below, nothing overflows 128 bits.
  if (seconds > static_cast<Wide>(kLongestDuration.count() / kPicosecondsPerSecond)) {
    bound.time = kLongestDuration;
    return bound;
  }
  const auto fraction = static_cast<double>(rest) / static_cast<double>(per_second);
  bound.time = Time(static_cast<std::int64_t>(seconds) * kPicosecondsPerSecond +
                    static_cast<std::int64_t>(fraction * static_cast<double>(kPicosecondsPerSecond)));
  return bound;
}

bool find_candidates(const FabricGraph& graph, const Task& task, const GoOn& go_on,
                     const std::function<void(Candidate)>& found) {
  if (!only_reduces(task.kind)) return CandidateSearch(graph, task, go_on, found).run();
  const FabricGraph turned = reversed(graph);
  return CandidateSearch(turned, task, go_on, found).run();
}

}  // namespace tutti::core::synthesis
