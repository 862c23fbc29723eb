#include "gui/trace/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/format.h"
#include "gui/comparison/comparison.h"
#include "gui/trace/describe.h"
#include "tests/gui/simulated.h"

namespace tutti::gui {
namespace {

using core::show;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<HeadlineFigure>& figures) {
  std::vector<std::string> names;
  for (const HeadlineFigure& figure : figures) names.push_back(figure.name);
  return names;
}

TEST(Headline, HasTheValuesOfTheSteadyState) {
  const auto trace = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  const auto figures = headline_of(*trace);
  ASSERT_THAT(names_of(figures),
              ElementsAre("step time", "exposed comm.", "lower bound", "critical path"));
  const auto step = summary_of(*trace).steady_parts();
  ASSERT_TRUE(step);
  EXPECT_EQ(figures[0].value, show(step->time));
  EXPECT_EQ(figures[1].value, show(step->exposed));
  EXPECT_EQ(figures[2].value, show(trace->run().step_bound));
  EXPECT_THAT(figures[2].remark, HasSubstr("step time: 1."));
  EXPECT_THAT(figures[3].detail, HasSubstr(figures[3].value));
}

TEST(Headline, ForTwoTimelinesHasBothStepTimesAndTheDifference) {
  const auto first = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  const auto second = test::simulated_trace(test::small_scenario("algorithm: \"pscpu\"", 2, 2));
  const Comparison both = compare_traces(first, second, Align::kStart, {"a", "b"});
  const auto figures = headline_of(*both.trace);
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures[0].value, show(summary_of(*first).steady_parts()->time));
  EXPECT_EQ(figures[1].value, show(summary_of(*second).steady_parts()->time));
  EXPECT_NE(figures[0].value, figures[1].value);
  const bool longer =
      summary_of(*second).steady_parts()->time > summary_of(*first).steady_parts()->time;
  EXPECT_EQ(figures[2].value.starts_with("+"), longer) << figures[2].value;
}

TEST(Headline, NcclPacksHaveAnErrorBand) {
  const auto trace = test::simulated_trace(
      "cluster { workers { machine: \"dgx-a100\" } network { kind: ONE_SWITCH latency_us: 1 } } "
      "workload { variable { name: \"a\" shape: 1000000 forward_ms: 1 backward_ms: 1 } } "
      "strategy { algorithm: \"nccl\" }");
  const auto figures = headline_of(*trace);
  ASSERT_FALSE(figures.empty());
  EXPECT_EQ(figures.back().name, "NCCL's error");
  EXPECT_THAT(figures.back().value, HasSubstr(" to "));
}

}  // namespace
}  // namespace tutti::gui
