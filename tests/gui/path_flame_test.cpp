#include "gui/trace/path_flame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/timeline/path_causes.h"
#include "gui/comparison/comparison.h"
#include "tests/gui/simulated.h"

namespace tutti::gui {
namespace {

using core::Time;

std::shared_ptr<const Trace> ring() {
  return test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
}

TEST(PathFlame, BoxesOfTheThirdLevelHaveTheTimesOfTheCauses) {
  const auto trace = ring();
  std::map<std::string, Time> times;
  for (const FlameBox& box : path_flame(*trace)) {
    if (box.level == 2) times[box.name] += box.time;
  }
  std::map<std::string, Time> expected;
  for (const core::PathCause& cause : core::causes_of(trace->path()))
    expected[cause.name] = cause.time;
  ASSERT_GT(expected.size(), 2u);
  EXPECT_EQ(times, expected);
}

TEST(PathFlame, EachLevelCoversTheWholePathWithoutOverlap) {
  const auto trace = ring();
  Time whole;
  for (const core::PathPiece& piece : trace->path()) whole += piece.end - piece.start;
  std::map<int, Time> ends;
  std::map<int, std::size_t> counts;
  for (const FlameBox& box : path_flame(*trace)) {
    EXPECT_EQ(box.begin, ends[box.level]) << box.name << ": boxes of a level adjoin each other";
    ends[box.level] = box.begin + box.time;
    ++counts[box.level];
  }
  ASSERT_EQ(ends.size(), static_cast<std::size_t>(kFlameLevels));
  for (const auto& [level, end] : ends) EXPECT_EQ(end, whole) << level;
  EXPECT_EQ(counts[0], 1u);
  EXPECT_GT(counts[3], counts[1]);
}

TEST(PathFlame, ALongestPieceIsAPieceOfThePath) {
  const auto trace = ring();
  for (const FlameBox& box : path_flame(*trace)) {
    const bool is_piece =
        std::any_of(trace->path().begin(), trace->path().end(), [&](const core::PathPiece& piece) {
          return piece.start == box.longest.from && piece.end == box.longest.to;
        });
    EXPECT_TRUE(is_piece) << box.name;
  }
}

TEST(PathFlame, APieceOfTheBackwardPassIsNamedByTheLayerAtItsEnd) {
  // The piece also computes the gradients of the layers above, so the name of the layer alone would
  // be wrong.
  const auto trace = ring();
  const auto& path = trace->path();
  const auto piece = std::find_if(path.begin(), path.end(),
                                  [](const core::PathPiece& one) { return !one.layer.empty(); });
  ASSERT_NE(piece, path.end());
  std::set<std::string> names;
  for (const FlameBox& box : path_flame(*trace)) names.insert(box.name);
  EXPECT_TRUE(names.contains("until " + piece->layer + " is done")) << piece->layer;
  EXPECT_FALSE(names.contains(piece->layer));
}

TEST(PathFlame, OfTwoTimelinesTheSecondPathFollowsTheFirst) {
  const auto first = ring();
  const auto second = test::simulated_trace(test::small_scenario("algorithm: \"pscpu\"", 2, 2));
  const Comparison both = compare_traces(first, second, Align::kStart, {"a", "b"});
  std::vector<FlameBox> roots;
  for (const FlameBox& box : path_flame(*both.trace)) {
    if (box.level == 0) roots.push_back(box);
  }
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_EQ(roots[1].begin, roots[0].time);
  EXPECT_NE(roots[0].name, roots[1].name);
  EXPECT_NE(roots[0].time, roots[1].time);
}

TEST(PathFlame, OfATimelineWithoutACriticalPathIsEmpty) {
  const auto trace = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  Side side = trace->sides().front();
  side.path.clear();
  const Trace without({side}, trace->rows(), {}, {}, nullptr);
  EXPECT_TRUE(path_flame(without).empty());
}

}  // namespace
}  // namespace tutti::gui
