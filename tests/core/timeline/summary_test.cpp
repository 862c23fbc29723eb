#include "core/timeline/summary.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

StepRecord step(int i, std::int64_t start, std::int64_t end) {
  StepRecord s;
  s.step = i;
  s.start = Time(start);
  s.end = Time(end);
  return s;
}

TEST(Summary, TheSteadyStateExcludesTheFirstStep) {
  Summary s;
  s.step(step(0, 0, 100));
  EXPECT_EQ(s.step_time(), Time(100));
  EXPECT_EQ(s.steady_from(), -1);
  s.step(step(1, 100, 190));
  EXPECT_EQ(s.step_time(), Time(90));
  s.step(step(2, 190, 280));
  EXPECT_EQ(s.step_time(), Time(90));
  EXPECT_EQ(s.steady_from(), 1);
  s.step(step(3, 280, 400));
  EXPECT_EQ(s.step_time(), Time(100));
  EXPECT_EQ(s.steady_from(), -1);
}

/// A step whose times depend on its number, so that a wrong range of steps changes every average.
StepRecord made_step(int i, Time start) {
  StepRecord s;
  s.step = i;
  s.start = start;
  s.end = start + Time(1'000 + i * 7 % 1'009);
  s.forward = Time(100 + i % 97);
  s.backward = Time(200 + i * i % 89);
  s.other_compute = Time(5 + i % 3);
  s.communication = Time(400 + i % 53);
  s.exposed = Time(50 + i % 31);
  s.slowed = Time(i % 2);
  s.awaited = i % 3 == 0 ? "" : i % 3 == 1 ? "w1/gpu0" : "w2/gpu0";
  s.awaited_for = Time(i % 13);
  return s;
}

TEST(Summary, AveragesIncludeStepsThatAreNotListed) {
  const int steps = 3 * static_cast<int>(Summary::kMaxListedSteps);
  Summary summary;
  StepParts sum;
  Time now, waited;
  int of_w2 = 0;
  for (int i = 0; i < steps; ++i) {
    const StepRecord s = made_step(i, now);
    now = s.end;
    summary.step(s);
    if (i == 0) continue;
    sum.time += s.end - s.start;
    sum.forward += s.forward;
    sum.backward += s.backward;
    sum.other_compute += s.other_compute;
    sum.communication += s.communication;
    sum.exposed += s.exposed;
    sum.slowed += s.slowed;
    if (!s.awaited.empty()) waited += s.awaited_for;
    of_w2 += s.awaited == "w2/gpu0";
  }
  const auto mean = [&](Time total) { return Time(total.count() / (steps - 1)); };
  EXPECT_EQ(summary.step_count(), steps);
  EXPECT_EQ(summary.step_time(), mean(sum.time));
  EXPECT_EQ(summary.length(), now);
  EXPECT_EQ(summary.steady_basis(), "mean of steps 1 to 29999");
  const auto parts = summary.steady_parts();
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->forward, mean(sum.forward));
  EXPECT_EQ(parts->backward, mean(sum.backward));
  EXPECT_EQ(parts->other_compute, mean(sum.other_compute));
  EXPECT_EQ(parts->communication, mean(sum.communication));
  EXPECT_EQ(parts->exposed, mean(sum.exposed));
  EXPECT_EQ(parts->slowed, mean(sum.slowed));
  const auto awaited = summary.awaited();
  ASSERT_TRUE(awaited);
  EXPECT_EQ(awaited->device, "w2/gpu0");
  EXPECT_EQ(awaited->steps, of_w2);
  EXPECT_EQ(awaited->mean, mean(waited));
  EXPECT_EQ(awaited->of_steps, steps - 1);
}

TEST(Summary, ListsTheFirstStepsAndTheLastStep) {
  constexpr int kMost = Summary::kMaxListedSteps;
  Summary summary;
  for (int i = 0; i < kMost; ++i) summary.step(step(i, i, i + 1));
  EXPECT_EQ(summary.steps().size(), Summary::kMaxListedSteps);
  EXPECT_EQ(summary.steps().back().step, kMost - 1) << "nothing is left out yet";
  for (int i = kMost; i < kMost + 500; ++i) summary.step(step(i, i, i + 1));
  EXPECT_EQ(summary.steps().size(), Summary::kMaxListedSteps);
  EXPECT_EQ(summary.steps()[kMost - 2].step, kMost - 2);
  EXPECT_EQ(summary.steps().back().step, kMost + 499);
  EXPECT_EQ(summary.steady_from(), 0);
  summary.step(step(kMost + 500, kMost + 500, kMost + 510));
  EXPECT_EQ(summary.steady_from(), -1);
  summary.step(step(kMost + 501, kMost + 510, kMost + 520));
  EXPECT_EQ(summary.steady_from(), kMost + 500);
}

TEST(Summary, TheSteadyStateOfAsynchronousWorkersAveragesItsOwnSteps) {
  Summary summary;
  for (int i = 0; i < 100; ++i) summary.step(made_step(i, Time(i * 2'000)));
  SteadyState state;
  state.step_time = Time(1'234);
  state.first_step = 10;
  state.end_step = 20;
  summary.steady(state);
  std::int64_t forward = 0;
  for (int i = 10; i < 20; ++i) forward += made_step(i, {}).forward.count();
  ASSERT_TRUE(summary.steady_parts());
  EXPECT_EQ(summary.steady_parts()->time, Time(1'234));
  EXPECT_EQ(summary.steady_parts()->forward, Time(forward / 10));
  EXPECT_EQ(summary.awaited()->of_steps, 10);
}

PackRecord pack(int step, int number) {
  PackRecord p;
  p.step = step;
  p.pack = number;
  p.end = Time(100 * step + number);
  return p;
}

TEST(Summary, KeepsThePacksOfTheLastStepInAnyOrderOfRecords) {
  Summary summary;
  summary.pack(pack(0, 0));
  summary.step(step(0, 0, 10));
  summary.pack(pack(1, 1));
  summary.pack(pack(2, 0));  // belongs to a step that ends later
  summary.pack(pack(1, 0));
  summary.step(step(1, 10, 20));
  ASSERT_EQ(summary.last_packs().size(), 2U);
  EXPECT_EQ(summary.last_packs()[0].end, Time(100));
  EXPECT_EQ(summary.last_packs()[1].end, Time(101));
  summary.step(step(2, 20, 30));
  summary.pack(pack(2, 1));  // recorded after its step
  summary.pack(pack(1, 2));
  ASSERT_EQ(summary.last_packs().size(), 2U);
  EXPECT_EQ(summary.last_packs()[0].end, Time(200));
  EXPECT_EQ(summary.last_packs()[1].end, Time(201));
}

PathPiece piece(std::int32_t kind, const std::string& device, std::int64_t start_us,
                std::int64_t end_us, std::int32_t pack = -1) {
  PathPiece p;
  p.kind = kind;
  p.device = device;
  p.start = microseconds(start_us);
  p.end = microseconds(end_us);
  p.pack = pack;
  if (kind == SpanKind::kPackInFlight)
    p.parts.wire[static_cast<std::size_t>(LinkKind::kNetwork)] = p.end - p.start;
  return p;
}

TEST(Summary, DescribesTheCriticalPath) {
  Summary s;
  const std::int32_t compute = SpanKind::kFirstCompute;
  s.path(piece(compute + 0, "w0/gpu1", 0, 10));
  PathPiece backward = piece(compute + 1, "w0/gpu1", 10, 30);
  backward.layer = "conv5";
  s.path(backward);
  s.path(piece(compute + 2, "w0/gpu1", 30, 31, 0));
  backward = piece(compute + 1, "w0/gpu1", 31, 50);
  backward.layer = "conv1";
  s.path(backward);
  PathPiece flight = piece(SpanKind::kPackInFlight, "w1/gpu0", 50, 80, 3);
  flight.slowest_link = "w0/nic0→network";
  s.path(flight);
  s.path(piece(SpanKind::kPackInFlight, "w1/gpu0", 80, 90, 4));
  s.path(piece(compute + 4, "w1/gpu0", 90, 95, 4));
  EXPECT_EQ(s.path_in_words(),
            (std::vector<std::string>{"10.0 µs: forward pass on w0/gpu1",
                                      "40.0 µs: backward pass on w0/gpu1, until \"conv1\" is done; "
                                      "1.00 µs of this time for copies into 1 pack",
                                      "40.0 µs: 2 packs, 3 to 4 in flight, one after the other: "
                                      "40.0 µs transfer over network links; "
                                      "slowest link: w0/nic0→network",
                                      "5.00 µs: update (pack 4) on w1/gpu0"}));
}

}  // namespace
}  // namespace tutti::core
