#include "core/synthesis/tree_packing.h"

#include <algorithm>
#include <utility>

#include "core/synthesis/max_flow.h"

namespace tutti::core::synthesis {
namespace {

/// Copies of a tree that has not reached all ranks yet.
struct Growing {
  SpanningTree tree;
  std::vector<Time> reached;  ///< by rank; kNever: not yet

  [[nodiscard]] bool has(int rank) const {
    return reached[static_cast<std::size_t>(rank)] != kNever;
  }
};

class Packer {
 public:
  Packer(const RankGraph& graph, const std::function<Time(int, int)>& cost, const GoOn& go_on)
      : graph_(graph), cost_(cost), go_on_(go_on), flow_(0) {
    for (const RankLink& link : graph.links) room_.push_back(link.capacity);
  }

  std::optional<std::vector<SpanningTree>> pack(const Contributions& contributions,
                                                std::int64_t trees) {
    for (int root = 0; root < graph_.ranks; ++root) {
      const std::int64_t copies = contributions[static_cast<std::size_t>(root)] * trees;
      seeds_.push_back(copies);
      all_ += copies;
    }
    for (int root = 0; root < graph_.ranks; ++root) {
      if (seeds_[static_cast<std::size_t>(root)] == 0) continue;
      Growing seed;
      seed.tree = {root, std::exchange(seeds_[static_cast<std::size_t>(root)], 0),
                   std::vector<int>(static_cast<std::size_t>(graph_.ranks), -1), {root}};
      seed.reached.assign(static_cast<std::size_t>(graph_.ranks), kNever);
      seed.reached[static_cast<std::size_t>(root)] = Time();
      parked_.push_back(std::move(seed));
      while (!parked_.empty()) {
        Growing tree = std::move(parked_.back());
        parked_.pop_back();
        if (!grow(tree)) return std::nullopt;
        all_ -= tree.tree.copies;
        done_.push_back(std::move(tree.tree));
      }
    }
    return std::move(done_);
  }

 private:
  /// The flow that find_spare() asks for. Nodes are ranks, parked trees and the source.
  void build_flow() {
    const int trees = static_cast<int>(parked_.size());
    source_ = graph_.ranks + trees;
    flow_ = MaxFlow(source_ + 1);
    for (std::size_t i = 0; i < graph_.links.size(); ++i)
      flow_.add_arc(graph_.links[i].from, graph_.links[i].to, room_[i]);
    first_offer_ = flow_.arcs();
    for (int rank = 0; rank < graph_.ranks; ++rank)
      flow_.add_arc(source_, rank, seeds_[static_cast<std::size_t>(rank)]);
    for (int i = 0; i < trees; ++i) {
      const SpanningTree& tree = parked_[static_cast<std::size_t>(i)].tree;
      flow_.add_arc(source_, graph_.ranks + i, tree.copies);
      for (const int rank : tree.order)
        flow_.add_arc(graph_.ranks + i, rank, MaxFlow::kUnbounded);
    }
  }

  /// The number of copies, up to `most`, of the current tree that can take the link.
  std::int64_t find_spare(const RankLink& link, std::int64_t others, std::int64_t most) {
    flow_.set_capacity(first_offer_ + link.from, MaxFlow::kUnbounded);
    const std::int64_t reached = flow_.run(source_, link.to, others + most);
    flow_.set_capacity(first_offer_ + link.from, seeds_[static_cast<std::size_t>(link.from)]);
    return std::max<std::int64_t>(0, std::min(most, reached - others));
  }

  /// Grows a tree until it has all ranks. Copies that cannot grow with it are parked.
  bool grow(Growing& growing) {
    SpanningTree& tree = growing.tree;
    build_flow();
    std::vector<bool> fits_none(graph_.links.size(), false);  // that never changes
    while (std::ssize(tree.order) < graph_.ranks) {
      if (go_on_ && !go_on_(share_done(tree))) return false;
      candidates_.clear();
      for (std::size_t i = 0; i < graph_.links.size(); ++i) {
        const RankLink& link = graph_.links[i];
        if (fits_none[i] || room_[i] == 0 || !growing.has(link.from) || growing.has(link.to))
          continue;
        candidates_.push_back(
            {growing.reached[static_cast<std::size_t>(link.from)] + cost_(link.from, link.to),
             -room_[i], i});
      }
      std::sort(candidates_.begin(), candidates_.end());
      const Candidate* best = nullptr;
      std::int64_t copies = 0;
      const std::int64_t others = all_ - tree.copies;
      for (const Candidate& candidate : candidates_) {
        const std::int64_t most = std::min(tree.copies, room_[candidate.link]);
        if (most <= copies) continue;
        const std::int64_t spare = find_spare(graph_.links[candidate.link], others, most);
        if (spare == 0) fits_none[candidate.link] = true;
        if (spare <= copies) continue;
        best = &candidate;
        copies = spare;
        if (copies == tree.copies) break;
      }
      if (best == nullptr) return false;
      if (copies < tree.copies) {
        parked_.push_back(growing);
        parked_.back().tree.copies -= copies;
        tree.copies = copies;
      }
      take(growing, *best);
      if (!parked_.empty() && copies == tree.copies && std::ssize(parked_) + graph_.ranks != source_)
        build_flow();
    }
    return true;
  }

  struct Candidate {
    Time reached;
    std::int64_t least_room_last = 0;
    std::size_t link = 0;
    auto operator<=>(const Candidate&) const = default;
  };

  void take(Growing& growing, const Candidate& candidate) {
    const RankLink& link = graph_.links[candidate.link];
    room_[candidate.link] -= growing.tree.copies;
    flow_.set_capacity(static_cast<int>(candidate.link), room_[candidate.link]);
    growing.tree.parent[static_cast<std::size_t>(link.to)] = link.from;
    growing.tree.order.push_back(link.to);
    growing.reached[static_cast<std::size_t>(link.to)] = candidate.reached;
  }

  [[nodiscard]] double share_done(const SpanningTree& tree) const {
    return (static_cast<double>(tree.root) +
            static_cast<double>(tree.order.size()) / graph_.ranks) /
           graph_.ranks;
  }

  const RankGraph& graph_;
  const std::function<Time(int, int)>& cost_;
  const GoOn& go_on_;
  MaxFlow flow_;
  int source_ = 0;
  int first_offer_ = 0;
  std::vector<std::int64_t> room_;   ///< of links
  std::vector<std::int64_t> seeds_;  ///< copies of trees that have not begun to grow, by root
  std::vector<Growing> parked_;
  std::int64_t all_ = 0;  ///< copies of all trees that are not done
  std::vector<SpanningTree> done_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::optional<std::vector<SpanningTree>> pack_trees(const RankGraph& graph,
                                                    const Contributions& contributions,
                                                    std::int64_t trees,
                                                    const std::function<Time(int, int)>& cost,
                                                    const GoOn& go_on) {
  return Packer(graph, cost, go_on).pack(contributions, trees);
}

}  // namespace tutti::core::synthesis
