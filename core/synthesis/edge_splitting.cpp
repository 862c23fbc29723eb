// An arc is a link or a path of merged links. The sequence of its links identifies an arc. Two
// equal paths are therefore one arc, and a single lookup determines whether a path is a piece of a
// route. split_off() first tries the full amount: it moves the capacity and repairs every stored
// flow with augmenting paths. If d units of some flow find no other path, split_off() restores
// everything and tries again with d fewer units. The previous flow to a rank is copied only if the
// repair changes arcs other than the pair and the direct arc. Each switch is removed in four passes
// over pairs of links: pairs on routes in equal shares, pairs on routes, pairs that lead back to
// the node they come from, and all other pairs. The result depends on the order of pairs, so
// callers try several orders (`attempt`) and use the best result.

#include "core/synthesis/edge_splitting.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/synthesis/max_flow.h"

namespace tutti::core::synthesis {
namespace {

/// The links that were merged into a path, in order; identifies the path.
using PathKey = std::u32string;

/// A link of the graph, or a path of links that were merged into one arc.
struct Arc {
  int from = 0;
  int to = 0;
  std::int64_t capacity = 0;
  PathKey path;
  bool on_route = true;
};

/// Returns a stride for a walk around a circle of `count` positions. The walk visits each position
/// once, and visits neighbouring positions at distant times. Consecutive ranks belong to the same
/// node, so this stride distributes the first attempts for a link over all nodes. This makes trees
/// shallower.
std::size_t stride_through(std::size_t count) {
  auto stride = static_cast<std::size_t>(static_cast<double>(count) * 0.618);
  while (stride > 1 && std::gcd(stride, count) != 1) --stride;
  return std::max<std::size_t>(1, stride);
}

class Splitter {
 public:
  Splitter(const FabricGraph& graph, const std::vector<std::int64_t>& capacities,
           const Contributions& contributions, std::int64_t trees, const GoOn& go_on,
           std::uint64_t attempt)
      : graph_(graph),
        go_on_(go_on),
        attempt_(attempt),
        random_(attempt),
        leaving_(nodes()),
        entering_(nodes()) {
    for (std::size_t i = 0; i < capacities.size(); ++i) {
      if (capacities[i] == 0) continue;
      add_arc({graph.links[i].from, graph.links[i].to, capacities[i],
               PathKey(1, static_cast<char32_t>(i)), true});
    }
    find_pieces_of_routes();
    find_flows(contributions, trees);
  }

  std::optional<RankGraph> split() {
    std::vector<int> switches;
    for (int node = graph_.ranks; node < graph_.nodes(); ++node) switches.push_back(node);
    // Switches with few links are removed first, which shortens the paths through the other
    // switches.
    std::sort(switches.begin(), switches.end(),
              [&](int a, int b) { return std::pair(degree(a), a) < std::pair(degree(b), b); });
    if (attempt_ % 2 == 1) shuffle(switches);
    for (std::size_t i = 0; i < switches.size(); ++i) {
      done_ = static_cast<double>(i) / static_cast<double>(switches.size());
      share_ = 1 / static_cast<double>(switches.size());
      if (!remove(switches[i])) return std::nullopt;
    }
    return result();
  }

 private:
  [[nodiscard]] std::size_t nodes() const { return static_cast<std::size_t>(graph_.nodes()); }
  [[nodiscard]] std::size_t degree(int node) const {
    return entering_[node].size() * leaving_[node].size();
  }

  // --- the graph ---

  int add_arc(Arc arc) {
    const auto [known, fresh] = arc_of_path_.try_emplace(arc.path, static_cast<int>(arcs_.size()));
    if (!fresh) {
      arcs_[known->second].capacity += arc.capacity;
      return known->second;
    }
    leaving_[arc.from].push_back(known->second);
    entering_[arc.to].push_back(known->second);
    arcs_.push_back(std::move(arc));
    for (std::vector<std::int64_t>& flow : flows_) flow.resize(arcs_.size());
    return known->second;
  }

  void shuffle(std::vector<int>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.next() % i]);
  }

  Arc& arc(int id) { return arcs_[id]; }

  void find_pieces_of_routes() {
    for (const std::vector<int>& route : graph_.routes) {
      PathKey whole;
      for (const int link : route) whole.push_back(static_cast<char32_t>(link));
      for (std::size_t begin = 0; begin < whole.size(); ++begin) {
        for (std::size_t length = 2; begin + length <= whole.size(); ++length)
          pieces_.insert(whole.substr(begin, length));
      }
    }
  }

  // --- the flows ---

  /// For every rank v, finds a flow that brings the contributions of all ranks to v.
  void find_flows(const Contributions& contributions, std::int64_t trees) {
    MaxFlow flow(graph_.nodes() + 1);
    for (const Arc& one : arcs_) flow.add_arc(one.from, one.to, one.capacity);
    std::int64_t all = 0;
    for (int rank = 0; rank < graph_.ranks; ++rank) {
      const std::int64_t own = contributions[rank] * trees;
      flow.add_arc(graph_.nodes(), rank, own);
      all += own;
    }
    for (int rank = 0; rank < graph_.ranks; ++rank) {
      if (flow.run(graph_.nodes(), rank, all) != all) {
        too_narrow_ = true;
        return;
      }
      std::vector<std::int64_t>& kept = flows_.emplace_back();
      for (std::size_t i = 0; i < arcs_.size(); ++i) kept.push_back(flow.flow(static_cast<int>(i)));
    }
  }

  /// Increases a flow by up to `units` units from one node to another. The additional units use the
  /// remaining capacity of arcs, or reduce the flow on arcs. Returns the number of units that find
  /// no path.
  std::int64_t reroute(std::vector<std::int64_t>& flow, int from, int to, std::int64_t units) {
    while (units > 0) {
      parent_.assign(nodes(), -1);
      queue_.assign(1, from);
      for (std::size_t i = 0; i < queue_.size() && parent_[to] < 0; ++i) {
        const int node = queue_[i];
        // Half-arc 2 * id is the use of arc `id` in its direction. Half-arc 2 * id + 1 is a
        // reduction of the flow on this arc.
        const auto visit = [&](int next, int half) {
          int& over = parent_[next];
          if (over >= 0 || next == from) return;
          over = half;
          queue_.push_back(next);
        };
        for (const int id : leaving_[node]) {
          if (flow[id] < arc(id).capacity) visit(arc(id).to, 2 * id);
        }
        for (const int id : entering_[node]) {
          if (flow[id] > 0) visit(arc(id).from, 2 * id + 1);
        }
      }
      if (parent_[to] < 0) return units;
      const auto tail = [&](int half) {
        return half % 2 == 0 ? arc(half / 2).from : arc(half / 2).to;
      };
      std::int64_t room = units;
      for (int node = to; node != from; node = tail(parent_[node])) {
        const int half = parent_[node];
        const std::int64_t used = flow[half / 2];
        room = std::min(room, half % 2 == 0 ? arc(half / 2).capacity - used : used);
      }
      for (int node = to; node != from; node = tail(parent_[node])) {
        const int half = parent_[node];
        flow[half / 2] += half % 2 == 0 ? room : -room;
      }
      units -= room;
    }
    return 0;
  }

  /// The state of one rank's flow before a change, so that the change can be undone.
  struct Before {
    std::size_t rank = 0;
    std::int64_t moved = 0;          ///< number of units of flow that were moved to the direct arc
    std::vector<std::int64_t> flow;  ///< the whole flow before the change; empty if `moved` is
                                     ///< enough to undo it
  };

  /// Repairs the flow to one rank after `units` of capacity were moved from two arcs to arc
  /// `direct`. If `direct` is -1, the capacity was removed. Returns the number of units that find
  /// no path.
  std::int64_t mend(std::size_t rank, int in, int out, int direct, std::int64_t units) {
    std::vector<std::int64_t>& flow = flows_[rank];
    std::int64_t& over_in = flow[in];
    std::int64_t& over_out = flow[out];
    if (over_in <= arc(in).capacity && over_out <= arc(out).capacity) return 0;
    Before& before = before_.emplace_back(Before{rank, 0, {}});
    const std::int64_t moved = direct >= 0 ? std::min({units, over_in, over_out}) : 0;
    if (over_in - moved > arc(in).capacity || over_out - moved > arc(out).capacity)
      before.flow = flow;
    else
      before.moved = moved;
    over_in -= moved;
    over_out -= moved;
    if (moved > 0) flow[direct] += moved;
    std::int64_t lost = 0;
    for (const int id : {in, out}) {
      const std::int64_t excess = flow[id] - arc(id).capacity;
      if (excess <= 0) continue;
      flow[id] -= excess;
      lost += reroute(flow, arc(id).from, arc(id).to, excess);
    }
    return lost;
  }

  void restore_flows(int in, int out, int direct) {
    for (Before& before : before_) {
      std::vector<std::int64_t>& flow = flows_[before.rank];
      if (!before.flow.empty()) {
        flow = std::move(before.flow);
        continue;
      }
      flow[in] += before.moved;
      flow[out] += before.moved;
      flow[direct] -= before.moved;
    }
  }

  /// Splits off as much capacity as possible, up to `units`, so that every rank can still receive
  /// all contributions.
  void split_off(int in, int out, std::int64_t units, bool on_route) {
    const bool loop = arc(in).from == arc(out).to;
    while (units > 0) {
      int direct = -1;
      if (!loop)
        direct = add_arc({arc(in).from, arc(out).to, units, arc(in).path + arc(out).path,
                          on_route && arc(in).on_route && arc(out).on_route});
      arc(in).capacity -= units;
      arc(out).capacity -= units;
      std::int64_t lost = 0;
      before_.clear();
      for (std::size_t rank = 0; rank < flows_.size() && lost < units; ++rank)
        lost = std::max(lost, mend(rank, in, out, direct, units));
      if (lost == 0) return;
      restore_flows(in, out, direct);
      if (direct >= 0) arc(direct).capacity -= units;
      arc(in).capacity += units;
      arc(out).capacity += units;
      // If `lost` units of a flow find no other path, that many units fewer can be split off.
      units -= std::min(lost, units);
    }
  }

  // --- processing of one switch after the other ---

  enum class Pairs { kOnRoutes, kAny, kLoops };

  /// Splits off pairs of a switch's incoming and outgoing links. If `evenly` is true, the capacity
  /// of each incoming link is divided equally among the outgoing links with which it is paired.
  bool pass(int node, Pairs which, bool evenly) {
    std::vector<int> in = entering_[node];
    std::vector<int> out = leaving_[node];
    if (attempt_ > 0) {
      shuffle(in);
      shuffle(out);
    }
    const std::size_t stride = stride_through(out.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (go_on_ &&
          !go_on_(done_ + share_ * static_cast<double>(i) / static_cast<double>(in.size() * 4 + 1)))
        return false;
      if (arc(in[i]).capacity == 0) continue;
      partners_.clear();
      for (std::size_t j = 0; j < out.size(); ++j) {
        const int other = out[(i + 1 + j * stride) % out.size()];
        if (arc(other).capacity == 0 ||
            (arc(in[i]).from == arc(other).to) != (which == Pairs::kLoops))
          continue;
        if (which == Pairs::kOnRoutes && !routes_are_free() &&
            pieces_.count(arc(in[i]).path + arc(other).path) == 0)
          continue;
        partners_.push_back(other);
      }
      const auto count = static_cast<std::int64_t>(partners_.size());
      const std::int64_t each =
          evenly && count > 0 ? std::max<std::int64_t>(1, arc(in[i]).capacity / count) : 0;
      for (const int other : partners_) {
        std::int64_t units = std::min(arc(in[i]).capacity, arc(other).capacity);
        if (each > 0) units = std::min(units, each);
        if (units > 0) split_off(in[i], other, units, which != Pairs::kAny || routes_are_free());
      }
    }
    return true;
  }

  bool remove(int node) {
    if (too_narrow_) return false;
    if (!pass(node, Pairs::kOnRoutes, true) || !pass(node, Pairs::kOnRoutes, false) ||
        !pass(node, Pairs::kLoops, false) || !pass(node, Pairs::kAny, false))
      return false;
    // The remaining capacity has no partner, because the capacities into the switch and out of it
    // differ.
    for (const auto* arcs : {&entering_, &leaving_}) {
      for (const int id : (*arcs)[node]) {
        arc(id).capacity = 0;
        for (std::vector<std::int64_t>& flow : flows_) {
          std::int64_t& used = flow[id];
          if (used == 0) continue;
          const std::int64_t units = std::exchange(used, 0);
          if (reroute(flow, arc(id).from, arc(id).to, units) > 0) return false;
        }
      }
    }
    for (auto* lists : {&entering_, &leaving_}) {
      for (std::vector<int>& list : *lists)
        std::erase_if(list, [&](int id) { return arc(id).capacity == 0; });
    }
    return true;
  }

  RankGraph result() {
    RankGraph ranks;
    ranks.ranks = graph_.ranks;
    std::map<std::pair<int, int>, std::int64_t> links;
    for (const Arc& one : arcs_) {
      if (one.capacity == 0) continue;
      TUTTI_CHECK(one.from < graph_.ranks && one.to < graph_.ranks, "a switch is left");
      links[{one.from, one.to}] += one.capacity;
      if (!one.on_route) ranks.off_route += one.capacity;
    }
    for (const auto& [ends, capacity] : links)
      ranks.links.push_back({ends.first, ends.second, capacity});
    return ranks;
  }

  [[nodiscard]] bool routes_are_free() const { return pieces_.empty(); }

  const FabricGraph& graph_;
  const GoOn& go_on_;
  std::uint64_t attempt_;
  Random random_;
  bool too_narrow_ = false;
  double done_ = 0;
  double share_ = 0;
  std::vector<Arc> arcs_;
  std::map<PathKey, int> arc_of_path_;
  std::vector<std::vector<int>> leaving_;
  std::vector<std::vector<int>> entering_;
  std::unordered_set<PathKey> pieces_;
  std::vector<std::vector<std::int64_t>> flows_;  ///< for each rank, the flow on every arc
  std::vector<int> parent_;
  std::vector<int> queue_;
  std::vector<int> partners_;
  std::vector<Before> before_;
};

}  // namespace

std::optional<RankGraph> without_switches(const FabricGraph& graph,
                                          const std::vector<std::int64_t>& capacities,
                                          const Contributions& contributions, std::int64_t trees,
                                          const GoOn& go_on, std::uint64_t attempt) {
  return Splitter(graph, capacities, contributions, trees, go_on, attempt).split();
}

}  // namespace tutti::core::synthesis
