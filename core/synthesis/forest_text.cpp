#include "core/synthesis/forest_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tutti::core::synthesis {
namespace {

/// The maximum number of lanes. If the trees would need more lanes, several trees share a lane. The
/// language allows 1,024 lanes.
constexpr std::int64_t kMaxLanes = 960;

/// For each rank, the statements that it executes per piece on one lane of one tree.
using RankStatements = std::map<int, std::string>;

/// A spanning tree and the lanes of its links.
struct TreeWithLanes {
  const SpanningTree* tree = nullptr;
  std::vector<std::vector<int>> children;  ///< children of each rank; the child with the deepest
                                           ///< subtree comes first
  std::vector<int> lane;                   ///< lane of the link from each rank to its parent
  int lanes = 1;
  std::int64_t first_chunk = 0;

  [[nodiscard]] int parent(int rank) const { return tree->parent[rank]; }
  [[nodiscard]] const std::vector<int>& children_of(int rank) const { return children[rank]; }
  [[nodiscard]] int lane_of(int rank) const { return lane[rank]; }
};

TreeWithLanes with_lanes(const SpanningTree& tree, std::int64_t first_chunk) {
  TreeWithLanes result;
  result.tree = &tree;
  result.first_chunk = first_chunk;
  const std::size_t ranks = tree.parent.size();
  result.children.resize(ranks);
  result.lane.assign(ranks, 0);
  std::vector<int> height(ranks, 0);
  for (auto rank = tree.order.rbegin(); rank != tree.order.rend(); ++rank) {
    const int parent = result.parent(*rank);
    if (parent < 0) continue;
    int& above = height[parent];
    above = std::max(above, height[*rank] + 1);
  }
  for (const int rank : tree.order) {
    if (result.parent(rank) >= 0) result.children[result.parent(rank)].push_back(rank);
  }
  for (const int rank : tree.order) {
    std::vector<int>& children = result.children[rank];
    std::stable_sort(children.begin(), children.end(),
                     [&](int a, int b) { return height[a] > height[b]; });
    const int own = result.lane_of(rank);
    int next = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i > 0 && next == own) ++next;
      const int lane = i == 0 ? own : next++;
      result.lane[children[i]] = lane;
      result.lanes = std::max(result.lanes, lane + 1);
    }
  }
  return result;
}

class ForestWriter {
 public:
  ForestWriter(const Forest& forest, CollectiveKind kind, const TextOptions& options)
      : forest_(forest), kind_(kind), options_(options) {
    std::vector<std::int64_t> used(forest.ranks, 0);
    const bool blocks = forest.contributions == one_of_each(forest.ranks);
    for (const SpanningTree& tree : forest.all) {
      std::int64_t& before = used[tree.root];
      trees_.push_back(with_lanes(tree, (blocks ? tree.root * forest.trees : 0) + before));
      before += tree.copies;
      all_lanes_ += trees_.back().lanes;
    }
    chunks_ = (blocks ? forest.ranks : 1) * forest.trees;
    up_ = reduces(kind);
    down_ = kind != CollectiveKind::kReduceScatter && kind != CollectiveKind::kReduce;
    if (up_ && down_) all_lanes_ *= 2;
  }

  std::string write() {
    write_head();
    // For trees on the same lane, writes piece 0 of each tree, then piece 1 of each tree, and so
    // on.
    const auto trees = static_cast<std::int64_t>(trees_.size());
    std::int64_t together = (all_lanes_ + kMaxLanes - 1) / kMaxLanes;
    while (lanes_with(together) > kMaxLanes && together < trees) ++together;
    for (std::int64_t first = 0; first < trees; first += together) {
      const std::int64_t end = std::min(trees, first + together);
      if (up_) write_lanes(first, end, true);
      if (down_) write_lanes(first, end, false);
    }
    if (!up_) write_own_part();
    return std::move(text_);
  }

 private:
  /// Returns the number of lanes if every `together` trees share lanes. They need as many lanes as
  /// the tree with the most lanes.
  [[nodiscard]] std::int64_t lanes_with(std::int64_t together) const {
    std::int64_t lanes = 0;
    int most = 0;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      most = std::max(most, trees_[t].lanes);
      const auto next = static_cast<std::int64_t>(t) + 1;
      if (next % together == 0 || t + 1 == trees_.size()) lanes += std::exchange(most, 0);
    }
    return up_ && down_ ? 2 * lanes : lanes;
  }

  void write_head() {
    for (const std::string& remark : options_.remarks) text_ += "# " + remark + '\n';
    text_ += fmt::format(
        "algorithm {}\ncollective {}\nengine kernel\nparameter pieces = {}\nchunks {}\n"
        "require pieces >= 1 \"pieces must be at least 1\"\n"
        "require ranks == {} \"this algorithm was synthesized for {} ranks\"\n",
        options_.name, to_string(kind_), options_.pieces, chunks_, forest_.ranks, forest_.ranks);
    if (has_root(kind_))
      text_ += fmt::format("require root == {0} \"this algorithm was synthesized for root {0}\"\n",
                           root());
  }

  [[nodiscard]] int root() const { return forest_.all.front().root; }

  /// Writes statements in which each root copies its own part to the output, because no other rank
  /// sends this part to the root.
  void write_own_part() {
    const bool gathers = kind_ == CollectiveKind::kAllGather;
    text_ += "\nlane own {\n";
    if (gathers)
      text_ += fmt::format("  copy input[rank * {0} count {0}] to data[rank * {0} count {0}]\n",
                           forest_.trees);
    else
      text_ += fmt::format("  if rank == {} {{ copy input[0 count {}] to data[0 count {}] }}\n",
                           root(), chunks_, chunks_);
    text_ += "}\n";
  }

  static std::string place(const char* buffer, const TreeWithLanes& tree) {
    const std::string chunk =
        tree.tree->copies == 1
            ? fmt::format("{}[{}]", buffer, tree.first_chunk)
            : fmt::format("{}[{} count {}]", buffer, tree.first_chunk, tree.tree->copies);
    return chunk + " piece p of pieces";
  }

  static std::string lane_name(bool up, std::int64_t tree, int lane) {
    return fmt::format("{}_{}_{}", up ? "up" : "down", tree, lane);
  }
  static std::string wait(bool up, std::int64_t tree, int lane) {
    return fmt::format("wait for at_{}[p] ", lane_name(up, tree, lane));
  }

  void write_lanes(std::int64_t first, std::int64_t end, bool up) {
    int lanes = 0;
    std::vector<std::vector<RankStatements>> all;
    for (std::int64_t t = first; t < end; ++t) {
      lanes = std::max(lanes, trees_[t].lanes);
      all.push_back(up ? steps_up(t) : steps_down(t));
    }
    for (int lane = 0; lane < lanes; ++lane) {
      text_ += fmt::format("\nlane {} {{\n  for p from 0 to pieces - 1 {{\n",
                           lane_name(up, first, lane));
      for (std::int64_t t = first; t < end; ++t) {
        const auto& mine = all[t - first];
        if (lane >= static_cast<int>(mine.size())) continue;
        const RankStatements& statements = mine[lane];
        const std::vector<std::pair<int, std::string>> list(statements.begin(), statements.end());
        write_choice(list, 0, list.size());
        text_ += fmt::format("    mark at_{}\n", lane_name(up, t, lane));
      }
      text_ += "  }\n}\n";
    }
  }

  /// Writes a binary search over the rank in nested conditions, so that a rank finds its statements
  /// with few comparisons.
  void write_choice(const std::vector<std::pair<int, std::string>>& list, std::size_t begin,
                    std::size_t end) {
    if (begin == end) return;
    if (end - begin == 1) {
      text_ += fmt::format("if rank == {} {{ {} }}\n", list[begin].first, list[begin].second);
      return;
    }
    const std::size_t middle = (begin + end) / 2;
    text_ += fmt::format("if rank < {} {{\n", list[middle].first);
    write_choice(list, begin, middle);
    text_ += "} else {\n";
    write_choice(list, middle, end);
    text_ += "}\n";
  }

  /// Returns the statements that broadcast the root's chunks along one tree. The index is the lane
  /// of the tree.
  [[nodiscard]] std::vector<RankStatements> steps_down(std::int64_t t) const {
    const TreeWithLanes& tree = trees_[t];
    std::vector<RankStatements> steps(tree.lanes);
    const std::string data = place("data", tree);
    for (const int rank : tree.tree->order) {
      const int parent = tree.parent(rank);
      const int own = tree.lane_of(rank);
      if (parent >= 0) {
        // In an all-reduce, the rank first sends its own sum from the place of the chunk. The total
        // from the root may overwrite the place only after that send.
        steps[own][rank] =
            fmt::format("{}receive {} from {}", up_ ? wait(true, t, own) : "", data, parent);
      }
      for (const int child : tree.children_of(rank)) {
        const int lane = tree.lane_of(child);
        std::string& step = steps[lane][rank];
        if (parent < 0)
          step = fmt::format("{}send {} to {}", up_ ? wait(true, t, last_lane_of_root(tree)) : "",
                             up_ ? data : place("input", tree), child);
        else if (lane == own)
          step += fmt::format(" then send to {}", child);
        else
          step = fmt::format("{}send {} to {}", wait(false, t, own), data, child);
      }
    }
    return steps;
  }

  /// Returns the lane on which the root completes the sum.
  static int last_lane_of_root(const TreeWithLanes& tree) {
    return tree.lane_of(tree.children_of(tree.tree->root).front());
  }

  /// Returns the statements that sum the chunks along one tree to its root. The index is the lane
  /// of the tree. A rank adds the child with the deepest subtree last, on the lane of the link to
  /// its parent.
  [[nodiscard]] std::vector<RankStatements> steps_up(std::int64_t t) const {
    const TreeWithLanes& tree = trees_[t];
    std::vector<RankStatements> steps(tree.lanes);
    const std::string data = place("data", tree);
    const std::string input = place("input", tree);
    for (const int rank : tree.tree->order) {
      const int parent = tree.parent(rank);
      const std::vector<int>& children = tree.children_of(rank);
      if (children.empty()) {
        steps[tree.lane_of(rank)][rank] = fmt::format("send {} to {}", input, parent);
        continue;
      }
      const bool only_one = children.size() == 1;
      int before = -1;
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        const int lane = tree.lane_of(*child);
        std::string& step = steps[lane][rank];
        if (before >= 0) step = wait(true, t, before);
        const bool passes_on = parent >= 0 && std::next(child) == children.rend();
        if (passes_on && only_one)
          step += fmt::format("reduce {} from {} then only send to {}", input, *child, parent);
        else if (before < 0)
          step += fmt::format("reduce {} with {} from {}", data, input, *child);
        else
          step += fmt::format("reduce {} from {}", data, *child);
        if (passes_on && !only_one) step += fmt::format(" then only send to {}", parent);
        before = lane;
      }
    }
    return steps;
  }

  const Forest& forest_;
  CollectiveKind kind_;
  const TextOptions& options_;
  std::vector<TreeWithLanes> trees_;
  std::int64_t all_lanes_ = 0;
  std::int64_t chunks_ = 1;
  bool up_ = false;
  bool down_ = false;
  std::string text_;
};

}  // namespace

std::string text_of(const Forest& forest, CollectiveKind kind, const TextOptions& options) {
  return ForestWriter(forest, kind, options).write();
}

}  // namespace tutti::core::synthesis
