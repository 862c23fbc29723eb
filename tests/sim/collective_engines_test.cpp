// Collectives of all kinds, used through their handles. The caller does not need to know which
// engine executes a collective.

#include "sim/collectives/collective_engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/strategy/collective_parts.h"
#include "sim/collectives/collective_run.h"
#include "tests/sim/simulated.h"

namespace tutti::sim {
namespace {

using core::Collective;
using core::Rank;
using core::Time;

core::Scenario two_machines(const std::string& algorithm) {
  return test::read(
      "cluster { workers { machine: \"hgx-h100\" count: 2 } network { kind: RAILS link: \"ndr\" } "
      "} workload { "
      "variable { "
      "name: \"v\" shape: 1000000 } } strategy { algorithm: \"" +
      algorithm + "\" }");
}

/// All engines that execute collectives, and the time at which each rank completes, by handle.
class Together : private CollectiveListener {
 public:
  explicit Together(const core::Cluster& cluster, bool watch_steps = false)
      : network_(cluster, core::NetworkModel::kFair, {}, true),
        devices_(cluster),
        engines_(network_, devices_, events_, ties_, *this, watch_steps) {}

  void expect(const Collective& collective) {
    engines_.expect(collective, [] { return true; });
  }
  std::uint32_t open(const Collective& collective) { return engines_.open(collective); }
  void close(std::uint32_t handle) { engines_.close(handle); }
  void start(std::uint32_t handle, const Collective& collective, Time at) {
    for (Rank r = 0; r < collective.schedule->ranks(); ++r)
      events_.push({at, static_cast<std::uint64_t>(r), EventKind::kStart, handle,
                    static_cast<std::uint32_t>(r)});
  }
  void run() {
    network_.expect_no_other();
    while (!events_.empty()) engines_.handle(events_.pop());
  }

  CollectiveEngines& engines() { return engines_; }
  std::map<std::uint32_t, std::vector<Time>> ends;
  std::map<std::uint32_t, std::int64_t> steps;

 private:
  void rank_done(std::uint32_t handle, Rank, Time now, const CausalChain&) override {
    ends[handle].push_back(now);
  }
  void step_done(const StepDone& step) override { ++steps[step.instance]; }

  EventQueue events_;
  Network network_;
  Devices devices_;
  Ties ties_;
  CollectiveEngines engines_;
};

class CollectiveEnginesTest : public testing::Test {
 protected:
  const core::Scenario interpreted_ = two_machines("ring"), timed_ = two_machines("nccl"),
                       staged_ = two_machines("nccl/ring");
  static const Collective& of(const core::Scenario& s) {
    return s.plan.collective(s.plan.packs.front());
  }
  void SetUp() override {
    ASSERT_TRUE(of(timed_).nccl);
    ASSERT_TRUE(core::timed_parts(of(staged_)));
    ASSERT_TRUE(has_steps(of(interpreted_)) && !has_steps(of(timed_)) && !has_steps(of(staged_)));
  }
};

/// Collectives that run in sequence each take the time that they take alone, and the completion of
/// every rank is reported with the collective's own handle.
TEST_F(CollectiveEnginesTest, EachCollectiveIsExecutedByItsOwnEngine) {
  Together all(*timed_.cluster);
  std::vector<std::uint32_t> handles;
  Time at;
  for (const core::Scenario* const s : {&interpreted_, &timed_, &staged_}) all.expect(of(*s));
  for (const core::Scenario* const s : {&interpreted_, &timed_, &staged_}) {
    handles.push_back(all.open(of(*s)));
    all.start(handles.back(), of(*s), at);
    at += core::milliseconds(1000);
  }
  all.run();
  at = Time();
  std::size_t i = 0;
  for (const core::Scenario* const s : {&interpreted_, &timed_, &staged_}) {
    const std::vector<Time>& ends = all.ends[handles[i++]];
    EXPECT_EQ(std::ssize(ends), of(*s).schedule->ranks());
    EXPECT_EQ(ends.back() - at, run_alone(of(*s), core::NetworkModel::kFair).end) << i;
    at += core::milliseconds(1000);
  }
  EXPECT_EQ(all.ends.size(), 3u) << "no events of stages are reported";
  EXPECT_EQ(all.ends[handles[1]].back() - core::milliseconds(1000),
            of(timed_).nccl->delay + of(timed_).nccl->work);
}

/// Ranks that start at the same time start in the order of handles, which is the order of engines.
/// This order affects the prediction.
TEST_F(CollectiveEnginesTest, HandlesAreOrderedByEngineAndTheLowestFreeHandleIsReused) {
  Together all(*timed_.cluster);
  const std::uint32_t timed = all.open(of(timed_)), staged = all.open(of(staged_)),
                      ring = all.open(of(interpreted_));
  EXPECT_LT(ring, staged);
  EXPECT_LT(staged, timed);
  for (const core::Scenario* const s : {&interpreted_, &timed_, &staged_}) {
    const std::uint32_t second = all.open(of(*s)), third = all.open(of(*s));
    EXPECT_LT(second, third);
    all.close(second);
    EXPECT_EQ(all.open(of(*s)), second);
  }
}

TEST_F(CollectiveEnginesTest, CountsTheWork) {
  for (const core::Scenario* const s : {&interpreted_, &timed_}) {
    Together all(*s->cluster);
    all.expect(of(*s));
    const std::uint32_t handle = all.open(of(*s));
    all.start(handle, of(*s), Time());
    all.run();
    EXPECT_EQ(static_cast<double>(all.engines().work_done()), work_of(of(*s), 1));
  }
}

/// Only the parts of a staged collective between workers have steps. These steps are reported as
/// steps of the whole collective.
TEST_F(CollectiveEnginesTest, StepsOfAStageHaveTheHandleOfTheWholeCollective) {
  Together all(*staged_.cluster, true);
  all.expect(of(staged_));
  const std::uint32_t first = all.open(of(staged_)), handle = all.open(of(staged_));
  all.close(first);
  all.start(handle, of(staged_), Time());
  all.run();
  ASSERT_EQ(all.steps.size(), 1u);
  EXPECT_EQ(all.steps.begin()->first, handle);
  EXPECT_EQ(all.steps.begin()->second, all.engines().steps_executed());
}

}  // namespace
}  // namespace tutti::sim
