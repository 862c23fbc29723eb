#include "core/timeline/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "core/timeline/writer.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct LaneSpan {
  std::int32_t lane = 0;
  std::int32_t pack = 0;
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  std::int32_t kind = SpanKind::kChannel;
  std::int64_t index = 0;
};

/// Returns a timeline of one step on one device. `packs`: the name of each pack's gradient.
TimelineReader timeline_of(const std::vector<LaneSpan>& spans,
                           const std::vector<std::string>& packs = {"a", "b"}) {
  std::ostringstream out;
  TimelineWriter writer(out);
  RunInfo run;
  for (const std::string& gradient : packs)
    run.packs.push_back({{gradient}, Bytes(100), "float32", {}, 0, 0, {}});
  writer.begin(run);
  std::map<std::int32_t, std::vector<LaneSpan>> lanes;
  for (const LaneSpan& span : spans) lanes[span.lane].push_back(span);
  for (const auto& [lane, row] : lanes) {
    writer.track({lane, TrackKind::kLane, 0, "gpu0", 0, lane});
    for (const LaneSpan& s : row) {
      Span span;
      span.start = microseconds(s.start_us);
      span.duration = microseconds(s.end_us - s.start_us);
      span.kind = s.kind;
      span.pack = s.pack;
      span.index = s.index;
      writer.span(lane, span);
    }
  }
  for (std::int32_t p = 0; p < static_cast<std::int32_t>(packs.size()); ++p)
    writer.pack({0, p, Time(), Time(), Time(), microseconds(100)});
  StepRecord step;
  step.end = microseconds(100);
  writer.step(step);
  writer.end();
  auto read = TimelineReader::from_bytes(out.str(), "t");
  if (!read) throw std::runtime_error(read.error().message());
  return std::move(*read);
}

Comparison compared(const TimelineReader& a, const TimelineReader& b) {
  auto comparison = compare(a, b);
  if (!comparison) throw std::runtime_error(comparison.error().message());
  return std::move(*comparison);
}

TEST(Compare, ComparesChannelsIndividuallyIfTheirNumbersAreEqual) {
  const Comparison c = compared(timeline_of({{0, 0, 10, 20}, {1, 0, 10, 24}}),
                                timeline_of({{0, 0, 0, 13}, {1, 0, 0, 10}}));
  ASSERT_EQ(c.kinds.size(), 1u);
  EXPECT_FALSE(c.kinds[0].together);
  EXPECT_EQ(c.kinds[0].steps, 2);
  EXPECT_EQ(c.kinds[0].time.a, microseconds(24));
  EXPECT_EQ(c.kinds[0].time.b, microseconds(23));
  EXPECT_EQ(c.kinds[0].mean_error, nanoseconds(3500)) << "3 and 4 µs";
  EXPECT_EQ(c.together + c.steps_only_a + c.steps_only_b, 0);
}

TEST(Compare, CombinesTheChannelsOfAPackIfTheirNumbersDiffer) {
  // Pack 0 has two predicted lanes but four measured channels, so its channels are combined. Pack 1
  // has two of each.
  const Comparison c = compared(timeline_of({{0, 0, 10, 15, 0, 0},
                                             {0, 0, 20, 30, 1, 1},
                                             {1, 0, 12, 33, 0, 0},
                                             {0, 1, 40, 50, 0, 2},
                                             {1, 1, 40, 50, 0, 3}}),
                                timeline_of({{0, 0, 5, 9},
                                             {1, 0, 6, 9},
                                             {2, 0, 7, 9},
                                             {3, 0, 7, 35},
                                             {0, 1, 40, 51},
                                             {1, 1, 40, 52}}));
  EXPECT_EQ(c.together, 1);
  EXPECT_EQ(c.max_channels_a, 2);
  EXPECT_EQ(c.max_channels_b, 4);
  ASSERT_EQ(c.kinds.size(), 2u);
  EXPECT_FALSE(c.kinds[0].together);
  EXPECT_EQ(c.kinds[0].steps, 2);
  EXPECT_EQ(c.kinds[0].time.b, microseconds(23));
  EXPECT_TRUE(c.kinds[1].together);
  EXPECT_EQ(c.kinds[1].steps, 1);
  EXPECT_EQ(c.kinds[1].time.a, microseconds(23)) << "10 to 33";
  EXPECT_EQ(c.kinds[1].time.b, microseconds(30)) << "5 to 35";
  EXPECT_EQ(c.steps_only_a + c.steps_only_b, 0) << "nothing vanishes";
  EXPECT_THAT(c.in_words(),
              Contains(HasSubstr("1 pack has different numbers of channels in the two timelines "
                                 "(up to 2 in the first, up to 4 in the second)")));
}

TEST(Compare, CountsChannelsOfPacksThatOnlyOneTimelineHas) {
  const TimelineReader both =
      timeline_of({{0, 0, 10, 15}, {0, 1, 20, 30}, {1, 1, 20, 30}, {2, 1, 20, 30}});
  const TimelineReader one = timeline_of({{0, 0, 10, 15}});
  const Comparison more = compared(both, one);
  EXPECT_EQ(more.steps_only_a, 3);
  EXPECT_EQ(more.steps_only_b, 0);
  EXPECT_EQ(more.together, 0);
  EXPECT_THAT(
      more.in_words(),
      Contains(HasSubstr(
          "3 schedule steps of the first timeline and 0 of the second have no counterpart")));
  EXPECT_EQ(compared(one, both).steps_only_b, 3);
}

TEST(Compare, CountsLaneStepsWithoutAPartnerOfTheSameKind) {
  const Comparison c =
      compared(timeline_of({{0, 0, 10, 15, 0, 0}, {0, 0, 20, 30, 1, 1}, {0, 0, 30, 31, 1, 2}}),
               timeline_of({{0, 0, 10, 15, 0, 0}, {0, 0, 20, 30, 2, 1}}));
  EXPECT_EQ(c.steps_joined, 1);
  EXPECT_EQ(c.steps_only_a, 2);
  EXPECT_EQ(c.steps_only_b, 1);
}

TEST(Compare, MatchesPacksByTheirGradients) {
  const Comparison c =
      compared(timeline_of({{0, 0, 10, 15}, {0, 1, 20, 30}}, {"a", "b"}),
               timeline_of({{0, 0, 10, 21}, {0, 1, 21, 27}, {0, 2, 30, 31}}, {"b", "a", "c"}));
  ASSERT_EQ(c.kinds.size(), 1u);
  EXPECT_EQ(c.kinds[0].mean_error, microseconds(1)) << "a: 5 and 6, b: 10 and 11 µs";
  EXPECT_EQ(c.steps_only_a, 0);
  EXPECT_EQ(c.steps_only_b, 1);
}

/// Returns steps with these lengths. A third of each step is forward computation, and the rest is
/// waiting.
Summary steps_of(const std::vector<std::int64_t>& lengths_us) {
  Summary summary;
  Time begin;
  for (std::size_t s = 0; s < lengths_us.size(); ++s) {
    StepRecord step;
    step.step = static_cast<std::int32_t>(s);
    step.start = begin;
    step.end = begin = begin + microseconds(lengths_us[s]);
    step.forward = microseconds(lengths_us[s] / 3);
    step.exposed = step.end - step.start - step.forward;
    summary.step(step);
  }
  return summary;
}

TEST(Compare, AveragesTheSameStepsOfBothTimelines) {
  const auto c = compare_runs(steps_of({900, 300, 600, 330}), steps_of({90, 60}));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->steady.time.a, microseconds(410)) << "the first step is not steady";
  EXPECT_EQ(c->steady.forward.a, nanoseconds(136'666) + Time(666));
  EXPECT_EQ(c->steady.forward.a + c->steady.exposed.a, c->steady.time.a - Time(1))
      << "parts add up, but for what is rounded";
  EXPECT_EQ(c->basis_a, "mean of steps 1 to 3");
  EXPECT_EQ(c->steady.time.b, microseconds(60));
  EXPECT_EQ(c->steady.exposed.b, microseconds(40));
  EXPECT_EQ(c->basis_b, "step 1");
  EXPECT_EQ(steps_of({90}).steady_basis(), "the only step");
  EXPECT_FALSE(steps_of({}).steady_parts());
  EXPECT_THAT(test::kinds_of(compare_runs(steps_of({}), steps_of({90}))),
              testing::ElementsAre("missing"));
  EXPECT_THAT(test::kinds_of(compare_runs(steps_of({90}), steps_of({}))),
              testing::ElementsAre("missing"));
}

}  // namespace
}  // namespace tutti::core
