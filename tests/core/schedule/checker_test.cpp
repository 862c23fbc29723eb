// The checker must see every kind of mistake: each test breaks a sound schedule in one way.

#include "core/schedule/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/algorithm/in_switch.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/schedule/written.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

constexpr std::int32_t kRanks = 4;
constexpr std::int64_t kElements = 11;

WrittenSchedule sound() { return WrittenSchedule::of(*ring_all_reduce(kRanks, kElements)); }

std::vector<Step>& steps(WrittenSchedule& schedule, Rank rank, Lane lane = 0) {
  return schedule.written()[static_cast<std::size_t>(rank)].lanes[static_cast<std::size_t>(lane)].steps;
}

std::string verdict(const Schedule& schedule) {
  const std::vector<std::string> problems = check(schedule, Contract::all_reduce(kRanks, kElements));
  return problems.empty() ? "" : problems.front();
}

TEST(Checker, AcceptsASoundSchedule) { EXPECT_EQ(verdict(sound()), ""); }

TEST(Checker, SeesAMissingStep) {
  WrittenSchedule s = sound();
  steps(s, 2).pop_back();
  EXPECT_THAT(verdict(s), HasSubstr("1 messages from rank 1 lane 0 are never received by rank 2 lane 0"));
}

TEST(Checker, SeesADeadlockAndSaysWhoWaitsForWhat) {
  WrittenSchedule s = sound();
  for (Rank r = 0; r < kRanks; ++r) steps(s, r).erase(steps(s, r).begin());
  EXPECT_THAT(verdict(s),
              HasSubstr("deadlock: rank 0 lane 0 step 0 (receive-reduce-send) waits for a message from rank 3 lane 0"));
}

TEST(Checker, SeesADeadlockForWantOfSlots) {
  // Both send twice before they receive: one slot is not enough, two are.
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
  EXPECT_THAT(check(exchange(1), nothing).front(),
              HasSubstr("deadlock: rank 0 lane 0 step 1 (send) waits for a free slot at rank 1 lane 0"));
  EXPECT_TRUE(check(exchange(2), nothing).empty());
}

TEST(Checker, SeesAContributionThatArrivesTwice) {
  WrittenSchedule s = sound();
  // Adds its own chunk a second time: the complete sum is received and reduced instead of kept.
  for (Step& step : steps(s, 1)) {
    if (step.kind == StepKind::kReceiveSend) step.kind = StepKind::kReceiveReduceCopySend;
  }
  EXPECT_THAT(verdict(s), HasSubstr("adds a contribution twice"));
}

TEST(Checker, SeesAResultThatLacksAContribution) {
  WrittenSchedule s = sound();
  for (Step& step : steps(s, 1)) {
    if (step.kind == StepKind::kReceiveReduceSend) step.kind = StepKind::kReceiveSend;
  }
  EXPECT_THAT(verdict(s), HasSubstr("holds all but the contribution of rank"));
}

TEST(Checker, SeesAReadOfWhatWasNeverWritten) {
  WrittenSchedule s = sound();
  s.written()[0].scratch = 3;
  steps(s, 0)[0].source.buffer = Buffer::kScratch;
  steps(s, 0)[0].source.offset = 0;
  EXPECT_THAT(
      verdict(s),
      HasSubstr("rank 0 lane 0 step 0: reads element 0 of scratch of rank 0 before anything was written there"));
}

TEST(Checker, SeesRangesOutsideTheirBuffer) {
  WrittenSchedule s = sound();
  steps(s, 0)[0].source.offset = kElements;
  EXPECT_THAT(verdict(s), HasSubstr("reaches outside its 11 elements"));
}

TEST(Checker, SeesTwoSidesThatDisagreeOnTheLength) {
  WrittenSchedule s = sound();
  --steps(s, 0)[0].source.count;
  EXPECT_THAT(verdict(s), HasSubstr("rank 1 lane 0 step 1: expects 3 elements, rank 0 lane 0 sent 2"));
}

TEST(Checker, SeesLanesThatDoNotExist) {
  WrittenSchedule s = sound();
  steps(s, 0)[0].to = Peer::at(1, 7);
  EXPECT_THAT(verdict(s), HasSubstr("there is no lane 7 of rank 1"));
}

TEST(Checker, SeesARaceBetweenLanes) {
  // The answers of a gather rank must wait for its sum.
  WrittenSchedule s =
      WrittenSchedule::of(*shuffle_all_reduce(kRanks, kRanks, {0}, kElements, Engine::kCpu, Engine::kCpu));
  EXPECT_EQ(verdict(s), "");
  for (auto& lane : s.written()[0].lanes) {
    for (Step& step : lane.steps) step.wait = {};
  }
  EXPECT_THAT(verdict(s), HasSubstr("nothing orders the two"));
}

TEST(Checker, SeesASwitchReductionThatDoesNotWaitForItsInputs) {
  WrittenSchedule s = WrittenSchedule::of(*in_switch_all_reduce(kRanks, kElements));
  EXPECT_EQ(verdict(s), "");
  for (auto& rank : s.written()) {
    for (Step& step : rank.lanes[0].steps) step.wait = {};
  }
  EXPECT_THAT(verdict(s), HasSubstr("reads the buffer of rank 1 without having heard that it is there"));
}

TEST(Checker, LooksAtBuffersOfAnySize) {
  constexpr std::int64_t kElementsOfATerabyte = std::int64_t{1} << 38;
  const auto ring = ring_all_reduce(4, kElementsOfATerabyte);
  EXPECT_EQ(check(*ring, Contract::all_reduce(4, kElementsOfATerabyte)), std::vector<std::string>());
  WrittenSchedule broken = WrittenSchedule::of(*ring);
  --steps(broken, 0)[0].source.count;
  EXPECT_THAT(check(broken, Contract::all_reduce(4, kElementsOfATerabyte)).front(),
              HasSubstr("rank 1 lane 0 step 1: expects 68719476736 elements, rank 0 lane 0 sent 68719476735"));
}

}  // namespace
}  // namespace tutti::core
