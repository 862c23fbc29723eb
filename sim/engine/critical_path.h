#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "sim/engine/causal_chain.h"

namespace tutti::sim {

/// A link of a causal chain: work `node` up to time `until` (a node may continue afterwards).
struct Cause {
  std::int32_t node = -1;
  core::Time until;
  std::int32_t segment = -1;  ///< backward pass: index of the last segment before `until`; else -1
};

/// Work of a replica that other work may have waited for.
struct PathNode {
  Cause before;
  std::int32_t kind = 0;     ///< kind of a compute span, or kPackInFlight
  std::int32_t replica = 0;  ///< index of the replica; above all replicas: the CPU of a worker
  std::int32_t step = 0;
  std::int32_t pack = -1;
  core::Time start;
  std::int32_t causal_chain = -1;  ///< pack in flight: index of its causal chain; else -1
};

/// The causes of all work, over packs and computation: a graph in which every node knows what it
/// waited for. The chain that leads back from the end of a step is its critical path. (Inside a
/// pack, lanes and messages carry a CausalChain.)
class CriticalPath {
 public:
  /// Adds a node and returns its number.
  std::int32_t add(const PathNode& node);
  /// Adds a pack in flight, with the causal chain of the rank that is done.
  std::int32_t add(PathNode node, const CausalChain& causal_chain);
  [[nodiscard]] const PathNode& node(std::int32_t id) const {
    return nodes_[static_cast<std::size_t>(id)];
  }

  /// Returns the part of the chain that ends with `last` and lies after `start`, without gaps.
  [[nodiscard]] std::vector<core::PathPiece> pieces(const Cause& last, core::Time start,
                                                    const core::Scenario& scenario) const;

  /// True if enough has been added since forget_before() for another call to pay.
  [[nodiscard]] bool is_worth_pruning() const { return nodes_.size() > 2 * kept_ + 100'000; }
  /// Removes nodes that no chain from one of `roots` reaches at a time after `horizon`. Causes that
  /// end at `horizon` or earlier are cleared; the others get their nodes' new numbers. REQUIRES:
  /// roots are all the causes outside this object.
  void forget_before(core::Time horizon, const std::vector<Cause*>& roots);

 private:
  std::vector<PathNode> nodes_;
  std::vector<CausalChain> causal_chains_;
  std::size_t kept_ = 0;  ///< number of nodes after the last pruning
};

}  // namespace tutti::sim
