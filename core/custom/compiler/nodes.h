#pragma once

#include <cstdint>
#include <vector>

#include "core/custom/compiler/actions.h"

namespace tutti::core::custom {

constexpr std::int64_t kMaxSteps = 1'000'000'000;  ///< maximum number of steps of one rank
/// The largest upper bound on a number of steps. Larger bounds are replaced by this value, so that
/// sums and products of bounds do not overflow.
constexpr std::int64_t kMaxBound = std::int64_t{1} << 40;

/// Returns `value`, but at most kMaxBound.
inline std::int64_t capped(std::int64_t value) { return value < kMaxBound ? value : kMaxBound; }
/// Returns a · b, but at most kMaxBound.
inline std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  return b > 0 && a > kMaxBound / b ? kMaxBound : a * b;
}

/// The properties of a node that only the compiler needs. The compiled program does not contain
/// them.
struct NodeFacts {
  std::int64_t most = 0;         ///< maximum number of steps
  std::int64_t counting = 1;     ///< number of operations needed to count the steps
  std::uint32_t count_uses = 0;  ///< bit mask of the variable slots (values.h) on which the number
                                 ///< of steps depends
  std::uint32_t way_uses = 0;    ///< bit mask of the variable slots on which peers and branches
                                 ///< depend
  std::uint32_t like_uses = 0;   ///< bit mask of the variable slots on which peers, branches and
                                 ///< sizes depend
  bool waits = false;
  std::int64_t visits = 1;  ///< upper bound on the number of nodes that Schedule::visit_ways()
                            ///< visits
};

/// A loop while it is compiled. `low` and `high` are the nodes of its bounds.
struct LoopText {
  Position at;
  bool downwards = false;
  int slot = 0;
  int low = -1;
  int high = -1;
  int body = -1;
};

/// Builds the nodes of the program, and derives the properties of each node from its children.
class NodeBuilder : public CompilerPart {
 public:
  using CompilerPart::CompilerPart;

  int add(NodeCode::Kind kind);
  int add_action(CompiledAction action);
  void append(int block, int child) { node(block).children.push_back(child); }
  NodeCode& node(int id) { return program_.nodes[id]; }
  NodeFacts& facts_of(int id) { return node_facts_[id]; }

  void finish_block(int id);
  /// `condition`: the node of the condition.
  void finish_if(int id, int condition, int body, int otherwise);
  void finish_loop(int id, const LoopText& text);
  /// Reports a problem if the steps below a node take too many operations to count.
  void check_counting(int id, Position at);

 private:
  [[nodiscard]] std::int64_t sum_of(const NodeCode& loop, std::int64_t low, std::int64_t rounds);

  std::vector<NodeFacts> node_facts_;
  std::int64_t counted_ = 0;
};

}  // namespace tutti::core::custom
