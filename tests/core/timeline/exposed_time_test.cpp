// Exposed communication is always a part of communication, whatever the order of computation and
// transfers.

#include "core/timeline/exposed_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/base/random.h"
#include "core/timeline/step_parts.h"
#include "core/timeline/summary.h"
#include "core/timeline/waiting.h"

namespace tutti::core {
namespace {

/// The activities in each of the moments 0 … kMoments - 1 of a step.
constexpr std::size_t kMoments = 200;
using Moments = std::vector<bool>;

/// Reports random intervals in order of start time. Intervals may touch or overlap. Returns the
/// moments that the intervals cover.
Moments tell(Random& random, ExposedTime& step, void (ExposedTime::*what)(Time, Time)) {
  Moments moments(kMoments);
  for (std::size_t at = random.below(30); at < kMoments; at += random.below(20)) {
    const std::size_t end = std::min(kMoments, at + random.below(25));
    (step.*what)(Time(static_cast<std::int64_t>(at)), Time(static_cast<std::int64_t>(end)));
    for (std::size_t m = at; m < end; ++m) moments[m] = true;
    if (random.below(2) == 0) at = end;
  }
  return moments;
}

TEST(ExposedTime, CountsTimeInFlightWithoutComputation) {
  Random random(3);
  ExposedTime step;
  for (int round = 0; round < 500; ++round) {
    step.begin_step();
    const Moments computed = tell(random, step, &ExposedTime::computed);
    const Moments in_flight = tell(random, step, &ExposedTime::in_flight);
    std::int64_t communication = 0, exposed = 0;
    for (std::size_t m = 0; m < kMoments; ++m) {
      communication += in_flight[m];
      exposed += in_flight[m] && !computed[m];
    }
    EXPECT_EQ(step.communication(), Time(communication)) << "round " << round;
    EXPECT_EQ(step.exposed(), Time(exposed)) << "round " << round;
  }
}

/// The sums must hold for any replica: one that is ahead of the others or behind them, or whose
/// clock is wrong.
TEST(StepParts, PartsAddUpToTheStepTime) {
  Random random(5);
  const auto some = [&random](std::uint64_t most) {
    return Time(static_cast<std::int64_t>(random.below(most)));
  };
  Summary summary;
  Time end;
  for (int i = 0; i < 2000; ++i) {
    const Time start = end;
    end = start + some(1000);
    ReplicaParts parts;
    parts.start = std::max(Time(), start + some(600) - Time(300));
    parts.forward = some(400);
    parts.backward = some(400);
    parts.other_compute = some(100);
    parts.communication = some(1200);
    parts.exposed = std::min(parts.communication, some(1200));
    const StepRecord record = step_record(i, start, end, parts);
    EXPECT_LE(record.exposed, record.communication) << i;
    EXPECT_LE(record.communication, end - start) << i;
    for (const Time part :
         {record.forward, record.backward, record.other_compute, record.exposed, waiting(record)})
      EXPECT_GE(part, Time()) << i;
    const Time computed = record.forward + record.backward + record.other_compute;
    // If clocks are wrong, the computation may seem to take longer than the step.
    EXPECT_EQ(computed + record.exposed + waiting(record), std::max(computed, end - start)) << i;
    summary.step(record);
    const auto steady = summary.steady_parts();
    ASSERT_TRUE(steady);
    EXPECT_LE(steady->exposed, steady->communication) << i;
  }
}

TEST(StepParts, TimeWithoutComputationAndPacksInFlightIsWaiting) {
  // The replica starts 10 after the others, computes for 30, has a pack in flight for 40, and then
  // waits 20 for the others.
  const StepRecord record = step_record(
      0, Time(0), Time(100), {"w0/gpu0", Time(10), Time(20), Time(10), {}, Time(40), Time(40)});
  EXPECT_EQ(record.exposed, Time(40));
  EXPECT_EQ(record.communication, Time(40));
  EXPECT_EQ(waiting(record), Time(30));
}

}  // namespace
}  // namespace tutti::core
