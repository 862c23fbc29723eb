#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "sim/engine/causal_chain.h"

namespace tutti::sim {

/// The cause of an event: the work of a node until the time `until`. The node's work may continue
/// after that time.
struct Cause {
  std::int32_t node = -1;
  core::Time until;
  std::int32_t segment = -1;  ///< for a backward pass: index of the last segment before `until`;
                              ///< otherwise -1
};

/// A unit of work of a replica: a computation or a pack in flight. Other work may have waited for
/// this unit.
struct PathNode {
  Cause before;
  std::int32_t kind = 0;  ///< kind of a compute span, or kPackInFlight
  /// The index of the replica. Numbers above the indices of all replicas stand for the CPUs of
  /// workers.
  std::int32_t replica = 0;
  std::int32_t step = 0;
  std::int32_t pack = -1;
  core::Time start;
  std::int32_t causal_chain = -1;  ///< for a pack in flight: index of its causal chain; otherwise
                                   ///< -1
};

/// A graph of all computation and all packs. Every node stores its cause, that is, the node for
/// which it waited. The critical path of a training step is the chain of causes, followed backwards
/// from the end of the step. Inside a pack, the path is not in this graph, but in the CausalChain
/// of lanes and messages.
class CriticalPath {
 public:
  /// Adds a node and returns its number.
  std::int32_t add(const PathNode& node);
  /// Adds a pack in flight, with the causal chain of the rank that has completed it.
  std::int32_t add(PathNode node, const CausalChain& causal_chain);
  [[nodiscard]] const PathNode& node(std::int32_t id) const { return nodes_[id]; }

  /// Returns the critical path from `start` to `last`, in order of time and without gaps.
  [[nodiscard]] std::vector<core::PathPiece> pieces(const Cause& last, core::Time start,
                                                    const core::Scenario& scenario) const;

  /// Returns true if forget_before() should be called, because many nodes have been added since its
  /// last call.
  [[nodiscard]] bool is_worth_pruning() const { return nodes_.size() > 2 * kept_ + 100'000; }
  /// Removes all nodes that cannot be on a critical path from one of `roots` back to the time
  /// `horizon`. Clears the causes that end at `horizon` or earlier, and updates the node numbers in
  /// all other causes.
  /// REQUIRES: `roots` contains all causes that are stored outside this object.
  void forget_before(core::Time horizon, const std::vector<Cause*>& roots);

 private:
  std::vector<PathNode> nodes_;
  std::vector<CausalChain> causal_chains_;
  std::size_t kept_ = 0;  ///< number of nodes after the last pruning
};

}  // namespace tutti::sim
