#include "gui/trace/miniature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "sim/simulator.h"
#include "tests/gui/simulated.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

constexpr std::size_t kRows = 6;

TEST(Miniature, ShowsTheLongestStepOfTheFirstAndTheLastDevice) {
  const auto trace = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  const auto made = miniature_of(trace, kRows);
  ASSERT_TRUE(made) << made.error().message();
  core::Time longest;
  for (const core::StepRecord& step : trace->steps())
    longest = std::max(longest, step.end - step.start);
  EXPECT_EQ(made->range.length(), longest);
  ASSERT_EQ(made->rows.size(), kRows);
  EXPECT_TRUE(std::is_sorted(made->rows.begin(), made->rows.end()));
  EXPECT_EQ(trace->rows()[made->rows.front()].track.worker, 0);
  EXPECT_EQ(trace->rows()[made->rows.front()].track.kind, core::TrackKind::kCompute);
}

TEST(Miniature, IsMadeOfAScenarioAndReportsItsProblems) {
  const std::atomic<bool> stop = false;
  sim::Simulator simulator;
  const auto make = [&](const std::string& text) {
    return make_miniature(text, "small.textproto", test::shipped_library(), simulator, kRows, stop);
  };
  const auto made = make(test::small_scenario("algorithm: \"ring\"", 2, 2));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_FALSE(made->rows.empty());
  const auto wrong = make("cluster { nonsense: 1 }");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), testing::HasSubstr("nonsense"));
}

}  // namespace
}  // namespace tutti::gui
