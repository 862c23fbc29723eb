#include "core/explore/tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tutti::core {
namespace {

/// Returns a space with three axes: sizes, an axis without an order, and a few numbers.
Space space() {
  return *Space::of({*parse_axis("", "strategy.bytes_per_pack=1KiB..256MiB*1.1"),
                     *parse_axis("", "strategy.algorithm=ring,nccl,pscpu,psgpu,double_tree"),
                     *parse_axis("", "strategy.shards=1,2,4,8")});
}

/// Returns a cost function with several valleys of different depths, and ripples as packings have
/// them. Some points are infeasible.
std::optional<double> cost(const Space& space, std::int64_t point) {
  const auto rows = space.rows(point);
  const double x = static_cast<double>(rows[0]) / 130.0;
  const double depths[] = {1.00, 1.02, 1.10, 1.40, 2.00};
  const double places[] = {0.30, 0.75, 0.50, 0.20, 0.90};
  const auto a = static_cast<std::size_t>(rows[1]);
  if (a == 1 && rows[2] > 0) return std::nullopt;
  const double shard = 0.03 * std::abs(static_cast<double>(rows[2]) - 2);
  return depths[a] + 2 * std::pow(x - places[a], 2) + shard + 0.004 * std::sin(40 * x);
}

double exhaustive(const Space& space) {
  double least = 1e9;
  for (std::int64_t p = 0; p < space.size(); ++p)
    least = std::min(least, cost(space, p).value_or(1e9));
  return least;
}

struct Search {
  double best = 1e9;
  std::vector<std::int64_t> requested;
};

Search search(const Space& space, std::int64_t evaluations, std::uint64_t seed) {
  Tuner tuner(space, {evaluations, seed});
  Search done;
  for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
    for (const std::int64_t point : points) {
      done.requested.push_back(point);
      tuner.tell(point, cost(space, point));
    }
  }
  if (tuner.best()) done.best = *cost(space, *tuner.best());
  return done;
}

TEST(Tuner, ComesWithinOnePercentWithAFewEvaluations) {
  const Space all = space();
  ASSERT_GT(all.size(), 2000);
  const double least = exhaustive(all);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Search found = search(all, all.size() / 20, seed);
    EXPECT_LE(found.best, 1.01 * least) << "seed " << seed;
    EXPECT_LE(std::ssize(found.requested), all.size() / 20);
  }
}

TEST(Tuner, RequestsOnlyAllowedRows) {
  const Space all = space();
  for (const std::int64_t evaluations : {20, 200, 5000}) {
    TunerOptions options;
    options.evaluations = evaluations;
    options.rows = {{}, {2, 4}, {0, 1, 3}};
    Tuner tuner(all, options);
    EXPECT_EQ(tuner.size(), all.size() / 20 * 6);
    for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
      for (const std::int64_t point : points) {
        EXPECT_TRUE(all.rows(point)[1] == 2 || all.rows(point)[1] == 4);
        EXPECT_NE(all.rows(point)[2], 2);
        tuner.tell(point, cost(all, point));
      }
    }
    ASSERT_TRUE(tuner.best());
    EXPECT_LE(tuner.evaluated(), tuner.size());
    // The minimum is known: of the allowed rows 2 and 4, row 2 has the deeper valley.
    if (evaluations > 20) {
      EXPECT_EQ(all.rows(*tuner.best())[1], 2);
    }
  }
}

TEST(Tuner, FindsRandomPointsAmongFewAllowedRows) {
  // Two of 20,000 rows may be evaluated. No point is valid, so all points after the first ones are
  // random.
  const Space all = *Space::of({*parse_axis("", "strategy.bytes_per_pack=1..20000+1"),
                                *parse_axis("", "strategy.shards=1..100+1")});
  TunerOptions options;
  options.evaluations = 100;
  options.rows = {{6, 19000}, {}};
  Tuner tuner(all, options);
  for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
    for (const std::int64_t point : points) {
      EXPECT_TRUE(all.rows(point)[0] == 6 || all.rows(point)[0] == 19000);
      tuner.tell(point, std::nullopt);
    }
  }
  EXPECT_EQ(tuner.evaluated(), 100);
}

TEST(Tuner, RequestsNoPointTwiceAndIsReproducible) {
  const Space all = space();
  const Search once = search(all, 100, 3), again = search(all, 100, 3), other = search(all, 100, 4);
  EXPECT_EQ(once.requested, again.requested);
  EXPECT_NE(once.requested, other.requested);
  EXPECT_EQ(std::set<std::int64_t>(once.requested.begin(), once.requested.end()).size(),
            once.requested.size());
}

TEST(Tuner, TriesAllPointsOfASmallSpace) {
  const Space few = *Space::of({*parse_axis("", "strategy.bytes_per_pack=1,2,4"),
                                *parse_axis("", "strategy.algorithm=ring,nccl"),
                                *parse_axis("", "strategy.shards=1,2")});
  const Search found = search(few, 100, 0);
  EXPECT_EQ(std::set<std::int64_t>(found.requested.begin(), found.requested.end()).size(),
            found.requested.size());
  EXPECT_LE(found.requested.size(), 12u);
  EXPECT_EQ(found.best, exhaustive(few));
}

TEST(Tuner, EndsIfNoPointCanBeBetter) {
  const Space all = space();
  Tuner tuner(all, {400, 0, 0.002, 1.5});
  std::int64_t evaluations = 0;
  for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
    for (const std::int64_t point : points)
      ++evaluations, tuner.tell(point, std::max(1.5, cost(all, point).value_or(3)));
  }
  EXPECT_LT(evaluations, 100) << "the initial points reach the lower bound";
  EXPECT_EQ(tuner.max_expected_improvement(), 0);
}

TEST(Tuner, EndsIfNoPointIsValid) {
  const Space all = space();
  Tuner tuner(all, {40, 0});
  std::int64_t evaluations = 0;
  for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
    for (const std::int64_t point : points) ++evaluations, tuner.tell(point, std::nullopt);
  }
  EXPECT_EQ(evaluations, 40);
  EXPECT_FALSE(tuner.best());
}

}  // namespace
}  // namespace tutti::core
