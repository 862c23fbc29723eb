// The curves that the window draws of a sweep, compared with a search through all points.

#include "gui/documents/sweep_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/random.h"

namespace tutti::gui {
namespace {

using core::Outcome;
using testing::HasSubstr;

/// Returns a sweep over pack sizes, algorithms and shards with random times. Some points are
/// missing, rejected or stopped early.
SweepData made(std::uint64_t seed = 1, int packs = 12) {
  SweepData data;
  data.path = "/x/a.sweep";
  data.info.scenario_file = "mine.textproto";
  std::string sizes = "strategy.bytes_per_pack=";
  for (int i = 0; i < packs; ++i)
    sizes += std::to_string(65536LL << (i % 20)) + (i < 20 ? "" : "0") + ",";
  data.info.axes = {*core::parse_axis("", sizes),
                    *core::parse_axis("", "strategy.algorithm=ring,nccl,psgpu"),
                    *core::parse_axis("", "strategy.shards=1,2,4")};
  data.space = std::make_shared<const core::Space>(*core::Space::of(data.info.axes));
  core::Random random(seed);
  for (std::int64_t p = 0; p < data.space->size(); ++p) {
    if (random.below(10) == 0) continue;
    Outcome outcome;
    if (random.below(12) == 0) outcome.status = Outcome::Status::kRefused;
    outcome.stopped = random.below(15) == 0;
    outcome.step = core::microseconds(1 + static_cast<std::int64_t>(random.below(1000)));
    outcome.step_bound = core::microseconds(1);
    outcome.exposed = core::microseconds(static_cast<std::int64_t>(random.below(100)));
    data.rows.push_back({p, outcome});
  }
  return data;
}

std::string value(const SweepData& data, std::int64_t point, const std::string& field) {
  const auto& fields = data.space->fields();
  const auto at = std::find(fields.begin(), fields.end(), field) - fields.begin();
  return data.space->values(point)[at];
}

TEST(SweepCurves, ShowTheBestOverTheFieldsThatAreNotDrawn) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SweepData data = made(seed);
    const SweepCurves curves = curves_of(data, {});
    EXPECT_EQ(curves.x, "strategy.bytes_per_pack");
    EXPECT_EQ(curves.by, "strategy.algorithm");
    ASSERT_EQ(curves.curves.size(), 3u);
    std::int64_t drawn = 0, best_point = -1;
    for (const SweepCurve& curve : curves.curves) {
      double last = -1;
      for (const CurvePoint& point : curve.points) {
        EXPECT_GT(point.x, last);
        last = point.x;
        // No point with the same size and algorithm may be better, and all of them are counted.
        std::int64_t same = 0;
        for (const SweepData::Row& row : data.rows) {
          if (row.outcome.status != Outcome::Status::kDone) continue;
          if (value(data, row.point, curves.x) != value(data, point.point, curves.x)) continue;
          if (value(data, row.point, curves.by) != curve.name) continue;
          ++same;
          if (row.outcome.stopped == point.given_up) {
            EXPECT_GE(core::to_ms(row.outcome.step), point.value);
          }
          EXPECT_TRUE(row.outcome.stopped || !point.given_up);
        }
        EXPECT_EQ(same, point.others + 1);
        drawn += same;
      }
    }
    double least = 1e9;
    std::int64_t done = 0;
    for (const SweepData::Row& row : data.rows) {
      if (row.outcome.status != Outcome::Status::kDone) continue;
      ++done;
      if (row.outcome.stopped || core::to_ms(row.outcome.step) >= least) continue;
      least = core::to_ms(row.outcome.step);
      best_point = row.point;
    }
    EXPECT_EQ(drawn, done);
    ASSERT_TRUE(curves.best);
    EXPECT_EQ(curves.at(*curves.best).value, least);
    EXPECT_EQ(*curves.find(curves.at(*curves.best).point), *curves.best);
    EXPECT_EQ(core::to_ms(data.outcome(best_point)->step), least);
  }
}

TEST(SweepCurves, CanBeLimitedToOneValueOfAField) {
  const SweepData data = made();
  SweepChoice choice;
  choice.only["strategy.shards"] = "4";
  for (const SweepCurve& curve : curves_of(data, choice).curves) {
    for (const CurvePoint& point : curve.points) {
      EXPECT_EQ(value(data, point.point, "strategy.shards"), "4");
      EXPECT_EQ(point.others, 0);
    }
  }
  // A choice that the sweep does not have is ignored.
  choice = {};
  choice.x = "workload.batch";
  choice.only["workload.batch"] = "1";
  EXPECT_EQ(curves_of(data, choice).x, "strategy.bytes_per_pack");
  choice.by = "";
  EXPECT_EQ(curves_of(data, choice).curves.size(), 1u);
}

TEST(SweepCurves, SpeedupsAreRelativeToTheFirstPoint) {
  const SweepData data = made();
  SweepChoice choice;
  choice.cost = "speed_up";
  const SweepCurves times = curves_of(data, {}), ups = curves_of(data, choice);
  for (std::size_t c = 0; c < ups.curves.size(); ++c) {
    const auto& points = ups.curves[c].points;
    EXPECT_EQ(points.front().value, 1);
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_DOUBLE_EQ(points[i].value,
                       times.curves[c].points.front().value / times.curves[c].points[i].value);
    for (const CurvePoint& point : points)
      EXPECT_TRUE(point.given_up || point.value <= ups.at(*ups.best).value);
  }
  EXPECT_TRUE(ups.bound.points.empty());
  EXPECT_FALSE(times.bound.points.empty());
}

TEST(SweepCurves, PointsAreAboveTheBoundAndInsideThePicture) {
  const SweepData data = made();
  for (const SweepCost& cost : sweep_costs()) {
    for (const Scale scale : {Scale::kAuto, Scale::kLinear, Scale::kLogarithmic}) {
      SweepChoice choice;
      choice.cost = cost.id;
      choice.x_scale = choice.y_scale = scale;
      const SweepCurves curves = curves_of(data, choice);
      for (const SweepCurve& curve : curves.curves) {
        for (const CurvePoint& point : curve.points) {
          EXPECT_TRUE(point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1)
              << cost.id << " " << point.y;
        }
      }
      for (const PlotAxis::Tick& tick : curves.y_axis.ticks())
        EXPECT_TRUE(tick.at >= -1e-6 && tick.at <= 1 + 1e-6);
      EXPECT_GE(curves.y_axis.ticks().size(), 2u) << cost.id;
      EXPECT_LE(curves.y_axis.ticks().size(), 40u) << cost.id;
    }
  }
}

TEST(SweepCurves, MeasuredRunsAreAtTheirPointWithTheirSpread) {
  SweepData data = made();
  const std::int64_t point = curves_of(data, {}).at(*curves_of(data, {}).best).point;
  data.measured = {{point, core::milliseconds(2), "a", "real"},
                   {point, core::milliseconds(4), "b", "real"}};
  const SweepCurves curves = curves_of(data, {});
  ASSERT_EQ(curves.measured.size(), 1u);
  const MeasuredDot& dot = curves.measured.front();
  EXPECT_EQ(dot.runs, 2);
  EXPECT_DOUBLE_EQ(dot.value, 3);
  EXPECT_DOUBLE_EQ(dot.low, curves.y_axis.at(2));
  EXPECT_DOUBLE_EQ(dot.high, curves.y_axis.at(4));
  EXPECT_EQ(dot.x, curves.at(*curves.find(point)).x);
  EXPECT_THAT(describe_point(data, point), HasSubstr("measured 2.00 ms (real)"));
}

TEST(SweepCurves, TheTableHasTheDrawnValues) {
  const SweepData data = made();
  const std::string csv = csv_of(curves_of(data, {}), data);
  std::size_t points = 0;
  for (const SweepCurve& curve : curves_of(data, {}).curves) points += curve.points.size();
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), points + 1);
  EXPECT_THAT(csv, HasSubstr("point,strategy.bytes_per_pack,strategy.algorithm,strategy.shards,"
                             "step_time_ms,measured,runs\r\n"));
}

}  // namespace
}  // namespace tutti::gui
