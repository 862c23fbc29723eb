// Counts the ranks of a tree whose operations differ in time from those of all other ranks. At
// least this number of ranks must be simulated by any method.
// docs/decisions/0025-simulate-double-trees-with-all-ranks.md has the results.

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "core/algorithm/double_tree.h"
#include "sim/interpreter/interpreter.h"
#include "tests/sim/simulated.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Lane;
using core::Rank;
using core::Schedule;
using core::Step;
using core::Time;

/// The parts of a double tree that are executed.
struct Parts {
  bool up = true;
  bool down = true;
  bool both_trees = true;
  bool down_after_up = false;  ///< the root sends nothing down before everything has gone up
};

/// A part of a double tree, with the same steps as in the whole tree.
class PartOfATree : public Schedule {
 public:
  PartOfATree(Rank ranks, Parts parts)
      : all_(core::double_tree_all_reduce(core::Contract::all_reduce(ranks, kElements),
                                          kElements / 2 / kMessages)),
        parts_(parts) {}

  static constexpr std::int64_t kMessages = 64;
  static constexpr std::int64_t kElements = kMessages * 2 * 65'536;

  [[nodiscard]] std::int32_t ranks() const override { return all_->ranks(); }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override { return all_->lanes(rank); }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return takes_part(lane) ? all_->steps(rank, lane) : 0;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step = all_->step(rank, lane, index);
    if (step.wait.lane < 0) return step;
    if (!takes_part(step.wait.lane))
      step.wait = {};
    else if (parts_.down_after_up)
      step.wait.count = all_->steps(rank, step.wait.lane);
    return step;
  }

 private:
  /// Lanes 0 and 1 are up and down of the first tree, lanes 2 and 3 those of the second.
  [[nodiscard]] bool takes_part(Lane lane) const {
    return (lane % 2 == 0 ? parts_.up : parts_.down) && (lane < 2 || parts_.both_trees);
  }

  std::shared_ptr<const Schedule> all_;
  Parts parts_;
};

/// Records the time of each step of each rank.
class Behaviours : public CollectiveListener {
 public:
  explicit Behaviours(Rank ranks) : of_(static_cast<std::size_t>(ranks)) {}
  void rank_done(std::uint32_t, Rank, Time, const CausalChain&) override {}
  void step_done(const StepDone& done) override {
    of_[done.rank].push_back({done.lane, done.index, done.start.count(), done.end.count()});
  }
  [[nodiscard]] std::size_t different() const { return std::set(of_.begin(), of_.end()).size(); }

 private:
  std::vector<std::vector<std::array<std::int64_t, 4>>> of_;
};

std::size_t behaviours(const core::Collective& collective) {
  const core::Cluster& cluster = collective.group.cluster();
  const Rank ranks = collective.schedule->ranks();
  EventQueue events;
  Network messages(cluster, core::NetworkModel::kFifo, {}, true);
  Devices devices(cluster);
  Behaviours behaviours(ranks);
  Interpreter interpreter(messages, devices, events, true);
  interpreter.expect(collective, [] { return true; });
  messages.expect_no_other();
  const std::uint32_t instance = interpreter.open(collective, behaviours);
  for (Rank r = 0; r < ranks; ++r)
    events.push({Time(), static_cast<std::uint64_t>(r), EventKind::kStart, instance,
                 static_cast<std::uint32_t>(r)});
  while (!events.empty()) {
    const Event event = events.pop();
    switch (event.kind) {
      case EventKind::kStart:
        interpreter.start(event.a, static_cast<Rank>(event.b), event.time);
        break;
      case EventKind::kLane: interpreter.go_on(event); break;
      case EventKind::kHop: messages.reach(event, events); break;
      case EventKind::kDeliver: interpreter.deliver(event); break;
      default: ADD_FAILURE() << "an event of kind " << static_cast<int>(event.kind);
    }
  }
  return behaviours.different();
}

/// Counts the behaviours on hosts that are connected by one switch, each with its own port.
std::size_t behaviours(Rank ranks, Parts parts) {
  const auto hosts = test::plain_cluster(ranks);
  return behaviours(test::on_plain_cluster(*hosts, std::make_shared<PartOfATree>(ranks, parts),
                                           PartOfATree::kElements));
}

TEST(BehavioursOfATree, AreFewIfMessagesDoNotMeet) {
  const auto down_after_up = [](Rank n) {
    return behaviours(n, {.both_trees = false, .down_after_up = true});
  };
  const auto up = [](Rank n) { return behaviours(n, {.down = false, .both_trees = false}); };
  for (const int k : {4, 5, 6, 7}) {
    const Rank n = 1 << k;
    const auto height = static_cast<std::size_t>(k);
    EXPECT_EQ(up(n), height + 1) << "one for each height";
    EXPECT_EQ(down_after_up(n), height * (height + 1) / 2 + 1)
        << "each height, and how often the way down goes right";
  }
}

/// On the way down, messages of one tree meet those of the other tree, and those on the way up.
TEST(BehavioursOfATree, AreAsManyAsRanksIfMessagesMeet) {
  for (const Rank n : {32, 64, 128}) {
    EXPECT_EQ(behaviours(n, {}), static_cast<std::size_t>(n));
    EXPECT_GE(behaviours(n, {.down_after_up = true}), static_cast<std::size_t>(n) * 4 / 5);
    EXPECT_GE(behaviours(n, {.both_trees = false}), static_cast<std::size_t>(n) * 9 / 10);
    EXPECT_GE(behaviours(n, {.up = false}), static_cast<std::size_t>(n) * 4 / 5);
  }
}

TEST(BehavioursOfATree, AreAsManyAsGpusOnRealMachines) {
  const core::Scenario scenario = test::read(
      "cluster { workers { machine: \"dgx-a100\" count: 8 } network { kind: ONE_SWITCH latency_us: "
      "1 } }\n"
      "workload { variable { name: \"g\" shape: 16777216 } }\nstrategy { algorithm: "
      "\"double_tree\" } run { steps: 1 "
      "}");
  EXPECT_EQ(behaviours(scenario.plan.collective(scenario.plan.packs.front())), 64u);
}

}  // namespace
}  // namespace tutti::sim
