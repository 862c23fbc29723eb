#include "real/coordinator/clock_sync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tutti::real {
namespace {

/// The clock of another machine. The clock is off by seconds, and its error changes all the time.
struct FakeClock {
  std::int64_t offset = 0;
  std::int64_t drift_ppm = 0;  ///< relative to our clock
  std::int64_t wander_ppm =
      0;  ///< maximum change of the drift from one second to the next, in both directions

  [[nodiscard]] std::int64_t shows(std::int64_t ours) const {
    const std::int64_t second = 1'000'000'000;
    const std::int64_t whole = ours / second;
    const std::int64_t rest = ours % second;
    // The clock gains an additional offset in every other second, and loses it again in the next.
    const std::int64_t wandered = wander_ppm * (whole % 2 == 0 ? rest : second - rest) / 1'000'000;
    return ours + offset + drift_ppm * ours / 1'000'000 + wandered;
  }
};

ClockSample ping(const FakeClock& clock, std::int64_t at, std::int64_t there, std::int64_t thinks,
                 std::int64_t back) {
  return {at, clock.shows(at + there), clock.shows(at + there + thinks),
          at + there + thinks + back};
}

/// Random numbers in the style of SplitMix, the same in every run.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_;
};

TEST(ClockSync, MergedTimesAreWithinTheBoundForAnyRoundTripsAndDrift) {
  Numbers random(1);
  std::int64_t widest = 0;
  for (int trial = 0; trial < 300; ++trial) {
    FakeClock clock;
    clock.offset = random.below(20'000'000'000) - 10'000'000'000;
    clock.drift_ppm = random.below(201) - 100;
    clock.wander_ppm = random.below(100);
    ClockOffset offset;
    std::int64_t now = random.below(1'000'000'000'000);
    for (int step = 0; step < 20; ++step) {
      const std::int64_t begin = now;
      for (int i = 0; i < 8; ++i) {  // trips of 20 to 420 µs, independent in both directions
        const ClockSample sample = ping(clock, now, 20'000 + random.below(400'000),
                                        random.below(50'000), 20'000 + random.below(400'000));
        offset.add(sample);
        now = sample.returned;
      }
      if (step > 0) {  // times of the previous step, between two rounds of pings
        for (int i = 0; i < 20; ++i) {
          const std::int64_t truth = begin - random.below(30'000'000);
          const auto estimate = offset.at(clock.shows(truth));
          EXPECT_LE(std::abs(clock.shows(truth) + estimate.offset_ns - truth), estimate.bound_ns);
          widest = std::max(widest, estimate.bound_ns);
        }
      }
      now += 30'000'000;
    }
    EXPECT_FALSE(offset.drift_exceeded());
  }
  EXPECT_LT(widest, 500'000) << "the bound is too wide";
  EXPECT_GT(widest, 20'000) << "the bound cannot be below half the shortest round trip";
}

TEST(ClockSync, TheBoundIsHalfTheShortestRoundTripAndGrowsWithTime) {
  const FakeClock clock{7'000'000'000, 0, 0};
  ClockOffset offset;
  offset.add(ping(clock, 1'000'000, 300'000, 10, 100'000));
  offset.add(ping(clock, 2'000'000, 50'000, 10, 50'000));
  offset.add(ping(clock, 3'000'000, 10'000, 10, 900'000));
  const std::int64_t at = clock.shows(2'050'000);
  EXPECT_LE(offset.at(at).bound_ns, 50'001);
  EXPECT_NEAR(static_cast<double>(offset.at(at + 1'000'000'000).bound_ns - offset.at(at).bound_ns),
              200'000, 2'000);
  EXPECT_NEAR(static_cast<double>(offset.to_theirs(offset.to_ours(at)) - at), 0, 100);
}

TEST(ClockSync, TimesNeverDecrease) {
  Numbers random(5);
  const FakeClock clock{-3'000'000'000, 150, 40};
  ClockOffset offset;
  for (std::int64_t now = 0; now < 100'000'000; now += 20'000'000)
    offset.add(ping(clock, now, random.below(300'000), 0, random.below(300'000)));
  std::int64_t last = offset.to_ours(clock.shows(0) - 50'000);
  for (std::int64_t t = clock.shows(0) - 49'999; t < clock.shows(0) + 50'000; ++t) {
    EXPECT_GE(offset.to_ours(t), last);
    last = offset.to_ours(t);
  }
  last = offset.to_ours(clock.shows(0));
  for (std::int64_t t = clock.shows(0); t < clock.shows(120'000'000); t += 777) {
    EXPECT_GE(offset.to_ours(t), last);
    last = offset.to_ours(t);
  }
}

TEST(ClockSync, WithoutASampleTheOffsetIsZero) {
  const ClockOffset offset;
  EXPECT_EQ(offset.to_ours(123), 123);
  EXPECT_EQ(offset.to_theirs(123), 123);
  EXPECT_EQ(offset.at(123).bound_ns, 0);
}

TEST(ClockSync, DetectsAClockThatWasSetAndUsesTheLastSample) {
  ClockOffset offset;
  offset.add(ping({0, 0, 0}, 1'000'000, 10'000, 0, 10'000));
  offset.add(ping({5'000'000'000, 0, 0}, 2'000'000, 10'000, 0, 10'000));
  EXPECT_TRUE(offset.drift_exceeded());
  EXPECT_NEAR(static_cast<double>(offset.at(5'002'000'000).offset_ns), -5e9, 10'100);
}

TEST(ClockSync, IgnoresRepliesThatPrecedeTheirPing) {
  ClockOffset offset;
  offset.add({100, 0, 50, 120});
  EXPECT_EQ(offset.at(0).bound_ns, 0);
}

/// Samples of a worker that lies. Sums of these numbers would overflow.
TEST(ClockOffset, IgnoresImpossibleSamples) {
  ClockOffset offset;
  offset.add(ping({1'000, 0, 0}, 0, 100, 0, 100));
  const std::int64_t before = offset.to_ours(500);
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const ClockSample& sample : {ClockSample{0, kMin, kMax, 10}, ClockSample{0, kMax, kMin, 10},
                                    ClockSample{0, kMin, kMin, 10}, ClockSample{0, kMax, kMax, 10}})
    offset.add(sample);
  EXPECT_EQ(offset.to_ours(500), before);
  EXPECT_FALSE(offset.drift_exceeded());
}

}  // namespace
}  // namespace tutti::real
