#include "core/timeline/steady_state.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

/// Returns the steady state of one worker whose rounds take `length(round)`.
template <class Length>
SteadyState state_of(Length length, std::int32_t most_rounds = 512) {
  SteadyStateSearch search(1, most_rounds);
  Time now;
  for (int round = 0; !search.step_ended(now += Time(length(round)));) {
    if (++round > 10'000) {
      ADD_FAILURE() << "it never ends";
      return {};
    }
  }
  return *search.state();
}

TEST(SteadyStateSearch, RoundsOfEqualLengthAreSteadyAtTheFirstCheck) {
  const SteadyState state = state_of([](int) { return 1000; });
  EXPECT_TRUE(state.steady);
  EXPECT_EQ(state.step_time, Time(1000));
  EXPECT_EQ(state.low, Time(1000));
  EXPECT_EQ(state.high, Time(1000));
  EXPECT_EQ(state.first_step, 8);
  EXPECT_EQ(state.end_step, SteadyStateSearch::kFirstCheck);
}

TEST(SteadyStateSearch, IgnoresTheFirstRounds) {
  const SteadyState state = state_of([](int round) { return round < 8 ? 1 : 1000; });
  EXPECT_TRUE(state.steady);
  EXPECT_EQ(state.step_time, Time(1000));
}

TEST(SteadyStateSearch, ContinuesWhileRoundsGetLonger) {
  // The rounds approach 2000, and the difference shrinks by 4 % per round. The first checks must
  // notice that it is still changing.
  double left = 1000;
  const SteadyState state = state_of([&](int) { return 2000 - static_cast<int>(left *= 0.96); });
  EXPECT_TRUE(state.steady);
  EXPECT_GT(state.end_step, SteadyStateSearch::kFirstCheck);
  EXPECT_GT(state.step_time, Time(1970));
}

TEST(SteadyStateSearch, ReportsThatItReachedItsLimit) {
  const SteadyState state = state_of([](int round) { return 1000 + 100 * round; }, 100);
  EXPECT_FALSE(state.steady);
  EXPECT_EQ(state.end_step, 100);
  // The bounds are the means of the first and of the last 9 of the rounds 28 to 99.
  EXPECT_LE(state.low, Time(1000 + 100 * 32));
  EXPECT_GE(state.high, Time(1000 + 100 * 95));
  EXPECT_EQ(state.step_time, Time(1000 + 100 * (28 + 99) / 2));
}

TEST(SteadyStateSearch, AveragesPeriodsShorterThanABatch) {
  const SteadyState state = state_of([](int round) { return round % 3 == 0 ? 4000 : 1000; });
  EXPECT_TRUE(state.steady);
  EXPECT_EQ(state.step_time, Time(2000));
}

TEST(SteadyStateSearch, ARoundHasAStepForEachWorker) {
  SteadyStateSearch search(3, 32);
  for (int step = 1; step < 96; ++step) ASSERT_FALSE(search.step_ended(Time(step * 10)));
  ASSERT_TRUE(search.step_ended(Time(960)));
  EXPECT_EQ(search.state()->step_time, Time(30));
  EXPECT_FALSE(search.step_ended(Time(970))) << "it has decided";
}

}  // namespace
}  // namespace tutti::core
