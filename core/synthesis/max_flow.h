#pragma once

// Maximum flow with whole numbers, by Dinic's algorithm.
//
// A round labels every node with its distance from the source over arcs that have room left, then
// sends along arcs that lead one step further until no path is left. Distances grow from round to
// round, so there are at most as many rounds as nodes. Arcs come in pairs: what is sent over arc a
// is room on arc a ^ 1, which leads back.
// SOURCE: Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
// estimation", Soviet Math. Doklady 1970.

#include <cstdint>
#include <limits>
#include <vector>

namespace tutti::core::synthesis {

class MaxFlow {
 public:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

  explicit MaxFlow(int nodes);

  /// Adds a node, and returns its number.
  int add_node();
  /// Adds a directed arc, and returns its number. REQUIRES: capacity ≥ 0.
  int add_arc(int from, int to, std::int64_t capacity);
  [[nodiscard]] int arcs() const { return static_cast<int>(capacities_.size()); }
  void set_capacity(int arc, std::int64_t capacity) {
    capacities_[static_cast<std::size_t>(arc)] = capacity;
  }

  /// Computes a maximum flow, or one of `limit` if the maximum is larger. Starts from no flow.
  /// REQUIRES: from != to. Cost: O(nodes² · arcs), usually about that of a few searches.
  std::int64_t run(int from, int to, std::int64_t limit = kUnbounded);
  /// After run() without reaching its limit: true for the nodes on the source's side of a minimum
  /// cut.
  [[nodiscard]] bool on_source_side(int node) const {
    return level_[static_cast<std::size_t>(node)] >= 0;
  }
  /// After run(): the flow over an arc.
  [[nodiscard]] std::int64_t flow(int arc) const {
    return room_[static_cast<std::size_t>(2 * arc + 1)];
  }

 private:
  bool label(int from, int to);
  std::int64_t send(int node, int to, std::int64_t at_most);

  std::vector<std::vector<int>> leaving_;  ///< by node: the half-arcs that leave it
  std::vector<int> heads_;                 ///< by half-arc: the node to which it leads
  std::vector<std::int64_t> capacities_;   ///< by arc: its capacity
  std::vector<std::int64_t> room_;         ///< by half-arc: its remaining room
  std::vector<int> level_;
  std::vector<std::size_t> next_;
  std::vector<int> queue_;
};

}  // namespace tutti::core::synthesis
