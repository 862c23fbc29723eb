#include "core/algorithm/tree_blocks.h"

#include "core/algorithm/tree_walk.h"

namespace tutti::core {
namespace {

/// Lane 0 communicates with the parent. Each further lane communicates with one child, with the
/// outer children first.
class TreeBlocks : public TreeWalk {
 public:
  using TreeWalk::TreeWalk;  // `elements` is the size of one block

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return takes_part(rank) ? 1 + children(rank) : 0;
  }

 protected:
  [[nodiscard]] std::int32_t children(Rank rank) const {
    return outer_children(rank) + own_children(rank);
  }
  [[nodiscard]] bool is_outer_child(Rank rank, std::int32_t child) const {
    return child < outer_children(rank);
  }
  [[nodiscard]] Rank child(Rank rank, std::int32_t number) const {
    const std::int32_t outer = outer_children(rank);
    return number < outer ? outer_child(rank, number) : own_child(rank, number - outer);
  }
  /// Returns the lane on which the rank's parent communicates with the rank.
  [[nodiscard]] Lane lane_at_parent(Rank rank) const {
    const Rank up = parent(rank);
    return 1 + (is_outer(rank) ? number_of_outer(up, rank)
                               : outer_children(up) + number_of_own(up, rank));
  }
  /// Returns the blocks that the rank and its parent exchange. For a relay that is not the root,
  /// these are the blocks of its group; for any other rank, its own block.
  [[nodiscard]] Range blocks_of(Rank rank) const {
    const std::int32_t group = group_of_relay(rank);
    if (!is_outer(rank) || group < 0) return {Buffer::kData, rank * elements_, elements_};
    return {Buffer::kData, first_of(group) * elements_, size_of_group(group) * elements_};
  }
};

/// Lane 0 sends to the parent once the lanes of all children have received.
class TreeGather : public TreeBlocks {
 public:
  using TreeBlocks::TreeBlocks;

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (lane > 0) return 1;
    return is_root(rank) ? 0 : children(rank) + 1;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step;
    if (lane > 0) {
      const Rank from = child(rank, lane - 1);
      step.kind = StepKind::kReceive;
      step.from = Peer::at(from, 0);
      step.source = step.target = blocks_of(from);
    } else if (index < children(rank)) {
      step.wait = {static_cast<Lane>(1 + index), 1};
    } else {
      step.kind = StepKind::kSend;
      step.to = Peer::at(parent(rank), lane_at_parent(rank));
      step.source = step.target = blocks_of(rank);
    }
    return step;
  }
};

/// Lane 0 receives; the other lanes send.
class TreeScatter : public TreeBlocks {
 public:
  using TreeBlocks::TreeBlocks;

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return lane == 0 && is_root(rank) ? 0 : 1;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t) const override {
    Step step;
    if (lane == 0) {
      step.kind = StepKind::kReceive;
      step.from = Peer::at(parent(rank), lane_at_parent(rank));
      step.source = step.target = blocks_of(rank);
      return step;
    }
    const Rank to = child(rank, lane - 1);
    step.kind = StepKind::kSend;
    step.to = Peer::at(to, 0);
    step.source = step.target = blocks_of(to);
    if (!is_root(rank)) step.wait = {0, 1};
    return step;
  }
};

}  // namespace

std::unique_ptr<Schedule> tree_gather(StarTree tree, std::int64_t block, Engine replica_engine,
                                      Engine helper_engine) {
  return std::make_unique<TreeGather>(std::move(tree), block, replica_engine, helper_engine);
}

std::unique_ptr<Schedule> tree_scatter(StarTree tree, std::int64_t block, Engine replica_engine,
                                       Engine helper_engine) {
  return std::make_unique<TreeScatter>(std::move(tree), block, replica_engine, helper_engine);
}

}  // namespace tutti::core
