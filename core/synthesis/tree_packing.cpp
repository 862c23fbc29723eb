#include "core/synthesis/tree_packing.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "core/synthesis/max_flow.h"

namespace tutti::core::synthesis {
namespace {

/// Several identical copies of a partly built tree, which grow together.
struct Growing {
  SpanningTree tree;
  std::vector<Time> reached;       ///< time at which data reaches each rank; kNever for ranks that
                                   ///< are not in the tree yet
  std::vector<std::size_t> later;  ///< links on which there is room for only some copies of the
                                   ///< tree

  [[nodiscard]] bool has(int rank) const { return reached[rank] != kNever; }
};

/// A link by which a tree can grow to another rank.
struct Step {
  Time reached;
  std::size_t size = 0;        ///< size of the tree when this step was added to the queue; smaller
                               ///< trees come first
  std::int64_t used_room = 0;  ///< the negated remaining capacity of the link; links with more
                               ///< capacity come first
  std::size_t tree = 0;
  std::size_t link = 0;

  auto operator<=>(const Step&) const = default;
};

class Packer {
 public:
  Packer(const RankGraph& graph, const std::function<Time(int, int)>& cost, const GoOn& go_on)
      : graph_(graph),
        cost_(cost),
        go_on_(go_on),
        flow_(graph.ranks + 1),
        source_(graph.ranks),
        leaving_(graph.ranks) {
    for (std::size_t i = 0; i < graph.links.size(); ++i) {
      const RankLink& link = graph.links[i];
      room_.push_back(link.capacity);
      leaving_[link.from].push_back(i);
      flow_.add_arc(link.from, link.to, link.capacity);
    }
    for (int rank = 0; rank < graph.ranks; ++rank)
      offers_.push_back(flow_.add_arc(source_, rank, 0));
  }

  std::optional<std::vector<SpanningTree>> pack(const Contributions& contributions,
                                                std::int64_t trees) {
    for (int root = 0; root < graph_.ranks; ++root) {
      const std::int64_t copies = contributions[root] * trees;
      if (copies == 0) continue;
      Growing seed;
      seed.tree = {root, copies, std::vector<int>(graph_.ranks, -1), {root}};
      seed.reached.assign(graph_.ranks, kNever);
      seed.reached[root] = Time();
      add(std::move(seed));
      links_to_take_ += static_cast<std::size_t>(graph_.ranks) - 1;
    }
    if (graph_.ranks > 1 && !grow()) return std::nullopt;
    std::vector<SpanningTree> done;
    for (Growing& one : trees_) done.push_back(std::move(one.tree));
    std::stable_sort(done.begin(), done.end(),
                     [](const auto& a, const auto& b) { return a.root < b.root; });
    return done;
  }

 private:
  // --- the flow network, which shows how many copies of a tree can use a link ---

  /// Adds a partly built tree. In the flow network, each rank of the tree offers a flow of the
  /// tree's number of copies.
  void add(Growing tree) {
    const int node = flow_.add_node();
    nodes_.push_back(node);
    copies_offered_.push_back(flow_.add_arc(source_, node, tree.tree.copies));
    for (const int rank : tree.tree.order) flow_.add_arc(node, rank, MaxFlow::kUnbounded);
    growing_copies_ += tree.tree.copies;
    trees_.push_back(std::move(tree));
    for (const int rank : trees_.back().tree.order) find_steps(trees_.size() - 1, rank);
  }

  /// Returns the number of copies of a tree, up to `most`, that can grow over a link.
  std::int64_t find_spare(std::size_t tree, const RankLink& link, std::int64_t most) {
    const std::int64_t copies = trees_[tree].tree.copies;
    const std::int64_t others = growing_copies_ - copies;
    const int offer = offers_[link.from];
    flow_.set_capacity(offer, MaxFlow::kUnbounded);
    flow_.set_capacity(copies_offered_[tree], 0);
    const std::int64_t reached = flow_.run(source_, link.to, others + most);
    flow_.set_capacity(offer, 0);
    flow_.set_capacity(copies_offered_[tree], copies);
    return std::max<std::int64_t>(0, std::min(most, reached - others));
  }

  // --- growth ---

  void find_steps(std::size_t tree, int rank) {
    for (const std::size_t link : leaving_[rank]) add_step(tree, link);
  }
  void add_step(std::size_t tree, std::size_t link) {
    const RankLink& one = graph_.links[link];
    const Growing& growing = trees_[tree];
    if (room_[link] == 0 || growing.has(one.to)) return;
    steps_.push({growing.reached[one.from] + cost_(one.from, one.to), growing.tree.order.size(),
                 -room_[link], tree, link});
  }

  /// Repeatedly takes the step that reaches a rank earliest, until every tree contains all ranks.
  bool grow() {
    for (std::size_t taken = 0; taken < links_to_take_;) {
      if (go_on_ && !go_on_(static_cast<double>(taken) / static_cast<double>(links_to_take_)))
        return false;
      if (steps_.empty()) {
        if (!divide_a_tree()) return false;
        ++taken;
        continue;
      }
      const Step step = steps_.top();
      steps_.pop();
      Growing& growing = trees_[step.tree];
      const RankLink& link = graph_.links[step.link];
      if (room_[step.link] == 0 || growing.has(link.to)) continue;
      const std::int64_t most = std::min(growing.tree.copies, room_[step.link]);
      const std::int64_t spare = find_spare(step.tree, link, most);
      if (spare == growing.tree.copies) {
        take(step.tree, step.link);
        ++taken;
      } else if (spare > 0) {
        growing.later.push_back(step.link);  // a link without spare copies never gets any
      }
    }
    return true;
  }

  /// Divides a group of identical trees, because no link has room for all copies of any group.
  /// Selects the link that has room for the most copies. The copies for which there is room grow
  /// over the link; the other copies become a separate group.
  bool divide_a_tree() {
    std::int64_t most = 0;
    std::size_t tree = 0, link = 0;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      for (const std::size_t l : trees_[t].later) {
        const RankLink& one = graph_.links[l];
        const std::int64_t room = std::min(trees_[t].tree.copies, room_[l]);
        if (room <= most || trees_[t].has(one.to)) continue;
        const std::int64_t spare = find_spare(t, one, room);
        if (spare <= most) continue;
        most = spare;
        tree = t;
        link = l;
      }
    }
    if (most == 0) return false;
    const std::vector<std::size_t> later = std::exchange(trees_[tree].later, {});
    if (most < trees_[tree].tree.copies) {
      Growing rest = trees_[tree];
      rest.tree.copies -= most;
      links_to_take_ += static_cast<std::size_t>(graph_.ranks) - rest.tree.order.size();
      growing_copies_ -= rest.tree.copies;
      trees_[tree].tree.copies = most;
      flow_.set_capacity(copies_offered_[tree], most);
      add(std::move(rest));
    }
    take(tree, link);
    for (const std::size_t l : later) add_step(tree, l);
    return true;
  }

  void take(std::size_t tree, std::size_t link) {
    Growing& growing = trees_[tree];
    const RankLink& one = graph_.links[link];
    room_[link] -= growing.tree.copies;
    flow_.set_capacity(static_cast<int>(link), room_[link]);
    growing.tree.parent[one.to] = one.from;
    growing.tree.order.push_back(one.to);
    growing.reached[one.to] = growing.reached[one.from] + cost_(one.from, one.to);
    if (static_cast<int>(growing.tree.order.size()) == graph_.ranks) {
      growing_copies_ -= growing.tree.copies;  // a complete tree needs no more links
      flow_.set_capacity(copies_offered_[tree], 0);
      return;
    }
    flow_.add_arc(nodes_[tree], one.to, MaxFlow::kUnbounded);
    find_steps(tree, one.to);
  }

  const RankGraph& graph_;
  const std::function<Time(int, int)>& cost_;
  const GoOn& go_on_;
  MaxFlow flow_;
  int source_;
  std::vector<std::vector<std::size_t>> leaving_;  ///< links that leave each rank
  std::vector<int> offers_;                        ///< for each rank, its arc from the source in
                                                   ///< the flow network
  std::vector<std::int64_t> room_;                 ///< remaining capacity of each link
  std::vector<Growing> trees_;
  std::vector<int> nodes_;           ///< for each tree, its node in the flow network
  std::vector<int> copies_offered_;  ///< for each tree, the arc from the source to its node
  std::int64_t growing_copies_ = 0;  ///< total number of copies of the trees that do not contain
                                     ///< all ranks yet
  std::size_t links_to_take_ = 0;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> steps_;
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
