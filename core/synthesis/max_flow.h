#pragma once

// Maximum flow with integer capacities, by Dinic's algorithm.
//
// Each round labels every node with its distance from the source along arcs with residual capacity.
// Each round then adds flow along paths on which the distance from the source grows with every arc,
// until no such path leads to the sink. The distance of the sink grows with every round, so there
// are no more rounds than nodes. Each arc consists of two half-arcs, forward and backward, with the
// numbers a and a ^ 1. The flow over a half-arc equals the residual capacity of its opposite.
// SOURCE: Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
// estimation", Soviet Mathematics Doklady 1970.

#include <cstdint>
#include <limits>
#include <vector>

namespace tutti::core::synthesis {

class MaxFlow {
 public:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

  explicit MaxFlow(int nodes);

  /// Adds a node and returns its number.
  int add_node();
  /// Adds a directed arc and returns its number. REQUIRES: capacity ≥ 0.
  int add_arc(int from, int to, std::int64_t capacity);
  [[nodiscard]] int arcs() const { return static_cast<int>(capacities_.size()); }
  void set_capacity(int arc, std::int64_t capacity) { capacities_[arc] = capacity; }

  /// Computes the maximum flow from node `from` to node `to`. Returns `limit` if the maximum is
  /// larger. Discards the previous flow.
  /// REQUIRES: from != to.
  /// Cost: O(nodes² · arcs), but usually about the cost of a few graph searches.
  std::int64_t run(int from, int to, std::int64_t limit = kUnbounded);
  /// True if the node is on the source's side of a minimum cut.
  /// REQUIRES: run() returned a flow below its limit.
  [[nodiscard]] bool on_source_side(int node) const { return level_[node] >= 0; }
  /// Returns the flow over an arc. REQUIRES: run() was called.
  [[nodiscard]] std::int64_t flow(int arc) const { return room_[2 * arc + 1]; }

 private:
  bool label(int from, int to);
  std::int64_t send(int node, int to, std::int64_t at_most);

  std::vector<std::vector<int>> leaving_;  ///< half-arcs that leave each node
  std::vector<int> heads_;                 ///< node to which each half-arc leads
  std::vector<std::int64_t> capacities_;   ///< capacity of each arc
  std::vector<std::int64_t> room_;         ///< residual capacity of each half-arc
  std::vector<int> level_;
  std::vector<std::size_t> next_;
  std::vector<int> queue_;
};

}  // namespace tutti::core::synthesis
