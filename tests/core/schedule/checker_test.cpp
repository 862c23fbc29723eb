// The schedule checker must find every kind of mistake. Each test breaks a valid schedule in one
// way.

#include "core/schedule/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/algorithm/in_switch.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/schedule/written.h"

namespace tutti::core {
namespace {

using testing::IsEmpty;

constexpr std::int32_t kRanks = 4;
constexpr std::int64_t kElements = 11;

WrittenSchedule sound() { return WrittenSchedule::of(*ring_all_reduce(kRanks, kElements)); }

std::vector<Step>& steps(WrittenSchedule& schedule, Rank rank, Lane lane = 0) {
  return schedule.written()[rank].lanes[lane].steps;
}

/// Returns the first violation without its text, so that texts can be reworded.
Violation first_of(std::vector<Violation> violations) {
  if (violations.empty()) throw std::logic_error("the checker accepts it");
  EXPECT_FALSE(violations.front().text.empty());
  violations.front().text.clear();
  return violations.front();
}

std::vector<Violation> violations_of(const Schedule& schedule) {
  return check(schedule, Contract::all_reduce(kRanks, kElements));
}
Violation verdict(const Schedule& schedule) { return first_of(violations_of(schedule)); }

using Kind = ViolationKind;

TEST(Checker, AcceptsACorrectSchedule) { EXPECT_THAT(violations_of(sound()), IsEmpty()); }

TEST(Checker, FindsAMissingStep) {
  WrittenSchedule s = sound();
  steps(s, 2).pop_back();
  EXPECT_EQ(verdict(s), (Violation{Kind::kNeverReceived, 2, 0, -1, 1, 0, -1}));
}

TEST(Checker, FindsADeadlockAndTheStepsThatWait) {
  WrittenSchedule s = sound();
  for (Rank r = 0; r < kRanks; ++r) steps(s, r).erase(steps(s, r).begin());
  const std::vector<Violation> circle = violations_of(s);
  ASSERT_EQ(circle.size(), 4u) << "each waits for the one behind it";
  EXPECT_EQ(first_of({circle[0]}), (Violation{Kind::kDeadlock, 0, 0, 0, 3, 0, -1}));
  EXPECT_EQ(first_of({circle[1]}), (Violation{Kind::kDeadlock, 3, 0, 0, 2, 0, -1}));
  EXPECT_EQ(first_of({circle[3]}), (Violation{Kind::kDeadlock, 1, 0, 0, 0, 0, -1}));
}

TEST(Checker, FindsALaneThatWaitsForALaneThatHasEnded) {
  WrittenSchedule s = sound();
  steps(s, 3).push_back(steps(s, 3).back());  // receives once more than rank 2 sends
  EXPECT_EQ(verdict(s), (Violation{Kind::kDeadlock, 3, 0, 7, 2, 0, -1}));
}

TEST(Checker, FindsADeadlockThatTooFewSlotsCause) {
  // Both ranks send twice before they receive. The schedule deadlocks with one slot per connection,
  // but not with two.
  const auto exchange = [](int credits) {
    WrittenSchedule::LaneSteps a;
    Step send, receive;
    send.kind = StepKind::kSend;
    send.source = {Buffer::kData, 0, 1};
    send.to = Peer::ahead(1, 0);
    receive.kind = StepKind::kReceive;
    receive.from = Peer::ahead(-1, 0);
    receive.target = {Buffer::kScratch, 0, 1};
    a.steps = {send, send, receive, receive};
    a.credits = credits;
    return WrittenSchedule({{{a}, 1}, {{a}, 1}});
  };
  const Contract nothing{1, {0, 2, 1}, {0, 0, 1}};
  EXPECT_EQ(first_of(check(exchange(1), nothing)), (Violation{Kind::kDeadlock, 0, 0, 1, 1, 0, -1}));
  EXPECT_TRUE(check(exchange(2), nothing).empty());
}

TEST(Checker, FindsAContributionThatArrivesTwice) {
  WrittenSchedule s = sound();
  // The rank adds its own chunk a second time: it reduces the complete sum that it receives,
  // instead of only storing it.
  for (Step& step : steps(s, 1)) {
    if (step.kind == StepKind::kReceiveSend) step.kind = StepKind::kReceiveReduceCopySend;
  }
  EXPECT_EQ(verdict(s).kind, Kind::kTwice);
}

TEST(Checker, FindsAMissingContribution) {
  WrittenSchedule s = sound();
  for (Step& step : steps(s, 1)) {
    if (step.kind == StepKind::kReceiveReduceSend) step.kind = StepKind::kReceiveSend;
  }
  EXPECT_EQ(verdict(s).kind, Kind::kWrongSum);
}

TEST(Checker, FindsAReadOfUnwrittenData) {
  WrittenSchedule s = sound();
  s.written()[0].scratch = 3;
  steps(s, 0)[0].source.buffer = Buffer::kScratch;
  steps(s, 0)[0].source.offset = 0;
  EXPECT_EQ(verdict(s), (Violation{Kind::kNeverWritten, 0, 0, 0, 0, -1, 0}));
}

TEST(Checker, FindsRangesOutsideTheirBuffer) {
  WrittenSchedule s = sound();
  steps(s, 0)[0].source.offset = kElements;
  EXPECT_EQ(verdict(s), (Violation{Kind::kOutside, 0, 0, 0, 0, -1, -1}));
}

TEST(Checker, FindsSendsAndReceivesOfDifferentLengths) {
  WrittenSchedule s = sound();
  --steps(s, 0)[0].source.count;
  EXPECT_EQ(verdict(s), (Violation{Kind::kLength, 1, 0, 1, 0, 0, -1}));
}

TEST(Checker, FindsLanesThatDoNotExist) {
  WrittenSchedule s = sound();
  steps(s, 0)[0].to = Peer::at(1, 7);
  EXPECT_EQ(verdict(s), (Violation{Kind::kNoSuchLane, 0, 0, 0, 1, 7, -1}));
}

TEST(Checker, FindsARaceBetweenLanes) {
  // The replies of a gather rank must wait for its sum.
  WrittenSchedule s = WrittenSchedule::of(
      *shuffle_all_reduce(kRanks, kRanks, {0}, kElements, Engine::kCpu, Engine::kCpu));
  EXPECT_THAT(violations_of(s), IsEmpty());
  for (auto& lane : s.written()[0].lanes) {
    for (Step& step : lane.steps) step.wait = {};
  }
  EXPECT_EQ(verdict(s).kind, Kind::kRace);
}

TEST(Checker, FindsASwitchReductionThatDoesNotWaitForItsInputs) {
  WrittenSchedule s = WrittenSchedule::of(*in_switch_all_reduce(kRanks, kElements));
  EXPECT_THAT(violations_of(s), IsEmpty());
  for (auto& rank : s.written()) {
    for (Step& step : rank.lanes[0].steps) step.wait = {};
  }
  const Violation unheard = verdict(s);
  EXPECT_EQ(unheard.kind, Kind::kReadBeforeMessage);
  EXPECT_EQ(unheard.other_rank, 1);
}

TEST(Checker, ChecksBuffersOfAnySize) {
  constexpr std::int64_t kElementsOfATerabyte = std::int64_t{1} << 38;
  const auto ring = ring_all_reduce(4, kElementsOfATerabyte);
  EXPECT_THAT(check(*ring, Contract::all_reduce(4, kElementsOfATerabyte)), IsEmpty());
  WrittenSchedule broken = WrittenSchedule::of(*ring);
  --steps(broken, 0)[0].source.count;
  EXPECT_EQ(check(broken, Contract::all_reduce(4, kElementsOfATerabyte)).front(),
            (Violation{Kind::kLength, 1, 0, 1, 0, 0, -1,
                       "rank 1 lane 0 step 1: expects 68719476736 elements, but rank 0 lane 0 sent "
                       "68719476735"}));
}

}  // namespace
}  // namespace tutti::core
