#include "core/algorithm/star_tree.h"

#include "core/algorithm/tree_walk.h"
#include "core/schedule/copy_of_input.h"

namespace tutti::core {
namespace {

/// A relay's lane 0 collects data from its own children and sends the sum to the parent. Only the
/// root has a lane 1, which collects data from the outer children.
class TreeReduce : public TreeWalk {
 public:
  using TreeWalk::TreeWalk;

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return !takes_part(rank) ? 0 : is_root(rank) ? 2 : 1;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    const std::int32_t own = own_children(rank), outer = outer_children(rank);
    if (lane == 1) return outer > 0 ? outer + 1 : 0;
    return (own > 0 ? own + 1 : 0) + (is_root(rank) ? 0 : 1);
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const std::int32_t own = own_children(rank);
    const std::int32_t inputs = lane == 1 ? outer_children(rank) : own;
    const Range data{Buffer::kData, 0, elements_};
    const std::int64_t base = lane == 1 ? own * elements_ : 0;
    Step step;
    if (inputs > 0 && index < inputs) {
      step.kind = StepKind::kReceiveAny;
      step.target = {Buffer::kScratch, base, elements_};
      step.stride = elements_;
    } else if (inputs > 0 && index == inputs) {
      step.kind = StepKind::kReduce;
      step.source = {Buffer::kScratch, base, elements_};
      step.target = data;
      step.inputs = inputs;
      step.stride = elements_;
      // A helper has no data of its own. A helper adds received data to the sum of lane 0, if lane
      // 0 has a sum.
      step.accumulate = is_replica(rank) || (lane == 1 && own > 0);
      if (lane == 1 && own > 0) step.wait = {0, steps(rank, 0)};
    } else {
      step.kind = StepKind::kSend;
      step.source = data;
      step.to = Peer::at(parent(rank), is_outer(rank) ? 1 : 0);
    }
    return step;
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return (own_children(rank) + outer_children(rank)) * elements_;
  }
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const override {
    return lane == 1 ? number_of_outer(rank, sender) : number_of_own(rank, sender);
  }
};

/// Lane 0 receives the data; the root's lane 0 has no steps. Each of the following lanes sends to
/// one child; the outer children come first.
class TreeBroadcast : public TreeWalk {
 public:
  using TreeWalk::TreeWalk;

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return takes_part(rank) ? 1 + outer_children(rank) + own_children(rank) : 0;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return lane == 0 && is_root(rank) ? 0 : 1;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t) const override {
    Step step;
    step.source = step.target = {Buffer::kData, 0, elements_};
    if (lane == 0) {
      const Rank from = parent(rank);
      const std::int32_t number = is_outer(rank) ? number_of_outer(from, rank)
                                                 : outer_children(from) + number_of_own(from, rank);
      step.kind = StepKind::kReceive;
      step.from = Peer::at(from, 1 + number);
      return step;
    }
    const std::int32_t child = lane - 1, outer = outer_children(rank);
    step.kind = StepKind::kSend;
    step.to =
        Peer::at(child < outer ? outer_child(rank, child) : own_child(rank, child - outer), 0);
    if (!is_root(rank)) step.wait = {0, 1};
    return step;
  }
};

class WorkOfRank : public Schedule {
 public:
  WorkOfRank(std::int32_t ranks, Rank rank, std::int64_t elements, double factor,
             std::int32_t passes, Engine engine)
      : ranks_(ranks),
        rank_(rank),
        elements_(elements),
        factor_(factor),
        passes_(passes),
        engine_(engine) {}

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return rank == rank_ && any() ? 1 : 0;
  }
  [[nodiscard]] std::int64_t steps(Rank, Lane) const override {
    return (scales() ? 1 : 0) + (passes_ > 0 ? 1 : 0);
  }
  [[nodiscard]] Step step(Rank, Lane, std::int64_t index) const override {
    Step step;
    step.target = {Buffer::kData, 0, elements_};
    step.source = step.target;
    if (scales() && index == 0) {
      step.kind = StepKind::kScale;
      step.factor = factor_;
    } else {
      step.kind = StepKind::kUpdate;
      step.inputs = passes_;
    }
    return step;
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

 private:
  [[nodiscard]] bool scales() const { return factor_ != 1; }
  [[nodiscard]] bool any() const { return scales() || passes_ > 0; }

  std::int32_t ranks_;
  Rank rank_;
  std::int64_t elements_;
  double factor_;
  std::int32_t passes_;
  Engine engine_;
};

class CopyInputs : public Schedule {
 public:
  CopyInputs(std::int32_t ranks, std::int32_t replicas, std::int64_t elements,
             std::int64_t input_shift, Engine engine)
      : ranks_(ranks),
        replicas_(replicas),
        elements_(elements),
        input_shift_(input_shift),
        engine_(engine) {}

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override { return rank < replicas_ ? 1 : 0; }
  [[nodiscard]] std::int64_t steps(Rank, Lane) const override { return 1; }
  [[nodiscard]] Step step(Rank, Lane, std::int64_t) const override {
    return copy_of_input({Buffer::kData, 0, elements_}, input_shift_);
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

 private:
  std::int32_t ranks_, replicas_;
  std::int64_t elements_, input_shift_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> tree_reduce(StarTree tree, std::int64_t elements, Engine replica_engine,
                                      Engine helper_engine) {
  return std::make_unique<TreeReduce>(std::move(tree), elements, replica_engine, helper_engine);
}

std::unique_ptr<Schedule> tree_broadcast(StarTree tree, std::int64_t elements,
                                         Engine replica_engine, Engine helper_engine) {
  return std::make_unique<TreeBroadcast>(std::move(tree), elements, replica_engine, helper_engine);
}

std::unique_ptr<Schedule> copy_inputs(std::int32_t ranks, std::int32_t replicas,
                                      std::int64_t elements, std::int64_t input_shift,
                                      Engine engine) {
  return std::make_unique<CopyInputs>(ranks, replicas, elements, input_shift, engine);
}

std::unique_ptr<Schedule> work_of_rank(std::int32_t ranks, Rank rank, std::int64_t elements,
                                       double factor, std::int32_t passes, Engine engine) {
  return std::make_unique<WorkOfRank>(ranks, rank, elements, factor, passes, engine);
}

}  // namespace tutti::core
