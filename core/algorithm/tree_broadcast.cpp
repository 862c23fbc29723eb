#include "core/algorithm/tree_broadcast.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace tutti::core {

std::int32_t BroadcastTree::receives_from(std::int32_t position) const {
  if (position == source) return -1;
  if (source == 0) return (position - 1) / 2;
  const std::int32_t parent = position / 2 - 1;
  return parent < 0 ? source : parent;
}

std::vector<std::int32_t> BroadcastTree::sends_to(std::int32_t position) const {
  std::vector<std::int32_t> to;
  const auto add = [&](std::int32_t other) {
    if (other < size && other != source) to.push_back(other);
  };
  if (position == source && source != 0) {
    add(0);
    add(1);
  }
  const std::int32_t below = source == 0 ? 2 * position + 1 : 2 * position + 2;
  add(below);
  add(below + 1);
  return to;
}

namespace {

class BroadcastSteps : public Schedule {
 public:
  BroadcastSteps(const Contract& contract, TaskOrder order, Engine engine)
      : contract_(contract),
        order_(std::move(order)),
        engine_(engine),
        root_task_(order_.task(contract.root())),
        root_device_(order_.device(contract.root())) {
    TUTTI_CHECK(contract.kind == CollectiveKind::kBroadcast && contract.members() == order_.ranks(),
                "the contract has {} ranks, but the order has {}", contract.members(),
                order_.ranks());
  }

  [[nodiscard]] std::int32_t ranks() const override { return order_.ranks(); }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return 1 + static_cast<Lane>(targets(rank).all.size()) + (copies(rank) ? 1 : 0);
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (contract_.elements == 0) return 0;
    if (lane == 0) return rank == contract_.root() ? 0 : 1;
    const Targets to = targets(rank);
    const auto target = static_cast<std::size_t>(lane) - 1;
    if (target == to.all.size()) return 1;  // copies
    return 1 + (target < to.tasks ? 0 : static_cast<std::int64_t>(to.tasks));
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Targets to = targets(rank);
    const auto target = static_cast<std::size_t>(lane) - 1;
    const bool root = rank == contract_.root();
    Step step;
    step.source = step.target = {Buffer::kData, 0, contract_.elements};
    if (lane == 0) {
      step.kind = StepKind::kReceive;
      step.from = sender(rank);
      return step;
    }
    if (root) step.source.offset += contract_.input_shift;
    if (target == to.all.size()) {
      step.kind = StepKind::kCopy;
      return step;
    }
    const std::size_t waits_for =
        target < to.tasks ? 0 : to.tasks;  // number of lanes that send to other tasks
    if (static_cast<std::size_t>(index) < waits_for) {
      step = {};
      step.wait = {static_cast<Lane>(index) + 1, 1};
      return step;
    }
    step.kind = StepKind::kSend;
    step.to = Peer::at(to.all[target], 0);
    if (!root && waits_for == 0) step.wait = {0, 1};
    return step;
  }

 private:
  /// The children of a rank, to which it sends: first the children in other tasks, then the
  /// children in its own task.
  struct Targets {
    std::vector<Rank> all;
    std::size_t tasks = 0;
  };

  /// Returns the device that represents a task in the tree over tasks.
  [[nodiscard]] std::int32_t leader(std::int32_t task) const {
    return task == root_task_ ? root_device_ : 0;
  }
  [[nodiscard]] BroadcastTree over_tasks() const { return {order_.workers(), root_task_}; }
  [[nodiscard]] BroadcastTree inside(std::int32_t task) const {
    return {order_.per_worker(), leader(task)};
  }

  [[nodiscard]] Targets targets(Rank rank) const {
    const std::int32_t task = order_.task(rank);
    const std::int32_t device = order_.device(rank);
    Targets to;
    if (device == leader(task)) {
      for (const std::int32_t other : over_tasks().sends_to(task))
        to.all.push_back(order_.rank(other, leader(other)));
    }
    to.tasks = to.all.size();
    for (const std::int32_t other : inside(task).sends_to(device))
      to.all.push_back(order_.rank(task, other));
    return to;
  }

  /// Returns the rank and lane from which a rank receives. REQUIRES: the rank is not the root.
  [[nodiscard]] Peer sender(Rank rank) const {
    const std::int32_t task = order_.task(rank);
    const std::int32_t device = order_.device(rank);
    Rank from = 0;
    if (device == leader(task)) {
      const std::int32_t parent = over_tasks().receives_from(task);
      from = order_.rank(parent, leader(parent));
    } else {
      from = order_.rank(task, inside(task).receives_from(device));
    }
    const std::vector<Rank> all = targets(from).all;
    return Peer::at(from,
                    1 + static_cast<Lane>(std::find(all.begin(), all.end(), rank) - all.begin()));
  }

  [[nodiscard]] bool copies(Rank rank) const {
    return contract_.input_shift != 0 && rank == contract_.root();
  }

  Contract contract_;
  TaskOrder order_;
  Engine engine_;
  std::int32_t root_task_;
  std::int32_t root_device_;
};

}  // namespace

std::unique_ptr<Schedule> hierarchical_tree_broadcast(const Contract& contract, TaskOrder order,
                                                      Engine engine) {
  return std::make_unique<BroadcastSteps>(contract, std::move(order), engine);
}

}  // namespace tutti::core
