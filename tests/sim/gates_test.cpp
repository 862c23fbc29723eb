// Gates in virtual time: what they start and when. The state of the gates is also part of the
// decision whether a step can be memoized.

#include "sim/run/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/gate/credit_gate.h"
#include "sim/interpreter/state_snapshot.h"
#include "sim/run/repetition.h"
#include "tests/sim/simulated.h"

namespace tutti::sim {
namespace {

using core::Time;
using testing::ElementsAre;
using testing::IsEmpty;

core::Scenario two_workers(const std::string& strategy, const std::string& servers = "") {
  return test::read(
      "cluster { workers { machine: \"dgx1-v100\" count: 2 replicas: 2 } " + servers +
      " network { kind: ONE_SWITCH latency_us: 10 } } workload { variable { name: \"a\" shape: "
      "1000 } variable "
      "{ name: \"b\" shape: 1000 } variable { name: \"c\" shape: 1000 } } strategy { " +
      strategy + " }");
}

core::Scenario horovod() {
  return two_workers("algorithm: \"ring\" horovod { cycle_time_ms: 1 fusion_threshold: 8000 }");
}

core::Scenario byteps() {
  return two_workers("byteps { scheduling_credit: 1 partition_bytes: 4096 }",
                     "workers { machine: \"cpu-host\" count: 1 server: true }");
}

/// Records what starts.
class Started : public Gates::Starter {
 public:
  void start_passed(std::int64_t replica, const core::GateBatch& batch,
                    const std::shared_ptr<const FusedPacks>& fused,
                    const Gates::Request& requested) override {
    all.push_back(
        fmt::format("{}: {} since {}", replica, fmt::join(batch.items, " "), requested.at.count()));
    fused_bytes = fused ? fused->collective->bytes() : core::Bytes();
  }
  std::vector<std::string> all;
  core::Bytes fused_bytes;
};

bool fit(Gates& gates) {
  return snapshot_of(Time(), [&](core::StateVisitor& visitor) { gates.visit_state(visitor); }).fit;
}

/// A cycle starts at 1 ms, and all replicas agree after some latencies. Every replica waits from
/// the time when its last part is ready.
TEST(Gates, StartThePacksOfACycleOnceAllReplicasHaveAgreed) {
  const core::Scenario s = horovod();
  EventQueue events;
  Started started;
  Gates gates(s, events, started);
  for (const int pack : {0, 1}) {
    for (std::int64_t replica = 0; replica < 4; ++replica)
      gates.ready({replica, 0, pack}, {}, Time(10 * pack + replica + 1));
  }
  ASSERT_EQ(events.size(), 1u) << "one round for both";
  const Event begins = events.pop();
  EXPECT_EQ(begins.time, core::milliseconds(1));
  gates.handle(begins);
  EXPECT_THAT(started.all, IsEmpty());
  const Event ends = events.pop();
  EXPECT_EQ(ends.time, begins.time + s.plan.gate->agreement(0));
  gates.handle(ends);
  EXPECT_THAT(started.all, ElementsAre("0: 0 1 since 11", "1: 0 1 since 12", "2: 0 1 since 13",
                                       "3: 0 1 since 14"));
  EXPECT_EQ(started.fused_bytes, core::Bytes(8000));
  EXPECT_TRUE(events.empty()) << "nothing else is ready";
}

/// Each worker decides alone. The credit suffices for one item.
TEST(Gates, AGateOfAWorkerReceivesOnlyEventsOfItsReplicas) {
  core::Scenario s = byteps();
  s.plan.gate = std::make_shared<core::CreditRule>(core::Bytes(4000));
  EventQueue events;
  Started started;
  Gates gates(s, events, started);
  std::vector<int> pushes;
  for (int p = 0; p < static_cast<int>(s.plan.packs.size()); ++p) {
    if (gates.governs(p)) pushes.push_back(p);
  }
  ASSERT_GE(pushes.size(), 2u);
  const int first = pushes[0], second = pushes[1];
  gates.ready({2, 0, first}, {}, Time(1));
  gates.ready({0, 0, first}, {}, Time(2));
  EXPECT_THAT(started.all, IsEmpty());
  gates.ready({3, 0, first}, {}, Time(3));
  EXPECT_THAT(started.all, ElementsAre(fmt::format("2: {} since 3", first),
                                       fmt::format("3: {} since 3", first)));
  for (const std::int64_t replica : {2, 3}) gates.ready({replica, 0, second}, {}, Time(4));
  EXPECT_EQ(started.all.size(), 2u) << "no credit is left";
  for (const std::int64_t replica : {2, 3}) gates.done({replica, 0, first}, {}, Time(5));
  EXPECT_EQ(started.all.size(), 4u);
  EXPECT_TRUE(events.empty()) << "there are no rounds";
}

TEST(Gates, ReportWhetherStepsMayBeSkipped) {
  EventQueue events;
  Started started;
  const core::Scenario with_rounds = horovod(), with_credit = byteps(),
                       without = two_workers("algorithm: \"ring\"");
  Gates rounds(with_rounds, events, started), credit(with_credit, events, started),
      none(without, events, started);
  EXPECT_FALSE(fit(rounds)) << "what a cycle finds depends on when it begins";
  EXPECT_TRUE(fit(credit));
  EXPECT_TRUE(fit(none));
  EXPECT_FALSE(none.governs(0));
  credit.ready({0, 0, 0}, {}, Time(1));
  EXPECT_FALSE(fit(credit)) << "something waits";
}

/// A step that starts in the same state as the previous one repeats it only if the gates also have
/// the same state.
TEST(Gates, StepsRepeatOnlyIfTheStateOfGatesRepeats) {
  for (const bool same : {true, false}) {
    Repetition repetition;
    Repetition::Step one, two;
    one.began = two.began = {Time(0), Time(3)};
    one.gates = {4, 5};
    two.gates = same ? one.gates : std::vector<std::int64_t>{4, 6};
    EXPECT_EQ(repetition.begin(one), nullptr);
    repetition.tell(core::StepRecord{});
    EXPECT_EQ(repetition.begin(two) != nullptr, same);
  }
}

}  // namespace
}  // namespace tutti::sim
