#pragma once

#include <algorithm>
#include <utility>

#include "core/algorithm/star_tree.h"
#include "core/base/check.h"

namespace tutti::core {

/// The base class of algorithms on a tree of at most two levels (StarTree). A relay's children are
/// the replicas of its group, called "own" children in this class. The root's children are the
/// relays or, if there are none, all replicas; they are called "outer" children. Ranks that are
/// neither the root nor a relay have no children.
class TreeWalk : public Schedule {
 public:
  TreeWalk(StarTree tree, std::int64_t elements, Engine replica_engine, Engine helper_engine)
      : tree_(std::move(tree)),
        elements_(elements),
        replica_engine_(replica_engine),
        helper_engine_(helper_engine) {
    TUTTI_CHECK(tree_.replicas >= 1 && tree_.replicas <= tree_.ranks && tree_.root >= 0 &&
                    tree_.root < tree_.ranks && tree_.per_group >= 1 && tree_.groups >= 1,
                "{} replicas of {} ranks, root {}", tree_.replicas, tree_.ranks, tree_.root);
    TUTTI_CHECK(!tree_.relays ||
                    (tree_.relays->stride >= 1 && tree_.relays->of(tree_.groups - 1) < tree_.ranks),
                "the tree has relays for {} groups, but only {} ranks", tree_.groups, tree_.ranks);
    TUTTI_CHECK(!tree_.relays || is_helper(tree_.root) || is_relay(tree_.root),
                "root {} is no relay", tree_.root);
  }

  [[nodiscard]] std::int32_t ranks() const override { return tree_.ranks; }
  [[nodiscard]] Engine engine(Rank rank, Lane) const override {
    return is_helper(rank) ? helper_engine_ : replica_engine_;
  }

 protected:
  [[nodiscard]] bool is_helper(Rank rank) const { return rank >= tree_.replicas; }
  [[nodiscard]] bool is_root(Rank rank) const { return rank == tree_.root; }
  /// Returns the group of a relay; -1 if the rank is not a relay.
  [[nodiscard]] std::int32_t group_of_relay(Rank rank) const {
    if (!tree_.relays || rank < tree_.relays->first ||
        (rank - tree_.relays->first) % tree_.relays->stride != 0)
      return -1;
    const std::int32_t group = (rank - tree_.relays->first) / tree_.relays->stride;
    return group < tree_.groups ? group : -1;
  }
  [[nodiscard]] bool is_relay(Rank rank) const { return group_of_relay(rank) >= 0; }
  [[nodiscard]] bool is_replica(Rank rank) const { return rank < tree_.replicas; }
  [[nodiscard]] bool takes_part(Rank rank) const {
    return is_replica(rank) || is_relay(rank) || is_root(rank);
  }

  // --- groups ---

  [[nodiscard]] std::int32_t group_of(Rank replica) const {
    return std::min(replica / tree_.per_group, tree_.groups - 1);
  }
  [[nodiscard]] Rank first_of(std::int32_t group) const { return group * tree_.per_group; }
  [[nodiscard]] std::int32_t size_of_group(std::int32_t group) const {
    return (group + 1 == tree_.groups ? tree_.replicas : first_of(group + 1)) - first_of(group);
  }

  // --- children, by number ---

  /// Returns the number of own children of a relay: the replicas of its group other than the relay
  /// itself. Returns 0 if the rank is not a relay.
  [[nodiscard]] std::int32_t own_children(Rank rank) const {
    if (!is_relay(rank)) return 0;
    return size_of_group(group_of_relay(rank)) - (is_replica(rank) ? 1 : 0);
  }
  [[nodiscard]] Rank own_child(Rank rank, std::int32_t i) const {
    const Rank first = first_of(group_of_relay(rank));
    return first + i + (is_replica(rank) && first + i >= rank ? 1 : 0);
  }
  [[nodiscard]] std::int32_t number_of_own(Rank rank, Rank child) const {
    return child - first_of(group_of_relay(rank)) - (is_replica(rank) && child > rank ? 1 : 0);
  }
  /// Returns the number of outer children of the root: the relays, or the replicas if there are no
  /// relays, without the root itself. Returns 0 if the rank is not the root.
  [[nodiscard]] std::int32_t outer_children(Rank rank) const {
    if (!is_root(rank)) return 0;
    if (tree_.relays) return tree_.groups - (is_relay(rank) ? 1 : 0);
    return tree_.replicas - (is_replica(rank) ? 1 : 0);
  }
  [[nodiscard]] Rank outer_child(Rank rank, std::int32_t i) const {
    if (!tree_.relays) return i + (is_replica(rank) && i >= rank ? 1 : 0);
    return tree_.relays->of(i + (is_relay(rank) && i >= group_of_relay(rank) ? 1 : 0));
  }
  [[nodiscard]] std::int32_t number_of_outer(Rank rank, Rank child) const {
    if (!tree_.relays) return child - (is_replica(rank) && child > rank ? 1 : 0);
    const std::int32_t group = group_of_relay(child);
    return group - (is_relay(rank) && group > group_of_relay(rank) ? 1 : 0);
  }
  /// Returns the rank's parent. REQUIRES: the rank is not the root.
  [[nodiscard]] Rank parent(Rank rank) const {
    return !tree_.relays || is_relay(rank) ? tree_.root : tree_.relays->of(group_of(rank));
  }
  /// True if the rank is an outer child, that is, if its parent is the root.
  [[nodiscard]] bool is_outer(Rank rank) const { return !tree_.relays || is_relay(rank); }

  StarTree tree_;
  std::int64_t elements_;

 private:
  Engine replica_engine_, helper_engine_;
};

}  // namespace tutti::core
