#include "sim/sweep/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

namespace tutti::sim {
namespace {

std::vector<std::int64_t> first(std::int64_t n) {
  std::vector<std::int64_t> points(static_cast<std::size_t>(n));
  std::iota(points.begin(), points.end(), std::int64_t{0});
  return points;
}

core::Outcome of(std::int64_t point) {
  core::Outcome outcome;
  outcome.packs = point;
  return outcome;
}

TEST(SweepPool, EvaluatesEveryPointOnceForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 7}) {
    PoolWork pool;
    pool.points = first(500);
    pool.threads = threads;
    pool.work = [](std::int64_t point, const std::atomic<bool>&) { return of(point); };
    std::vector<std::int64_t> taken;
    pool.take = [&](std::int64_t point, const core::Outcome& outcome) {
      EXPECT_EQ(outcome.packs, point);
      taken.push_back(point);
      return true;
    };
    EXPECT_TRUE(run_pool(pool));
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(taken, first(500));
  }
}

TEST(SweepPool, StopsAndKeepsFinishedWork) {
  PoolWork pool;
  pool.points = first(1000);
  pool.threads = 3;
  // The last tasks run until they are stopped.
  pool.work = [](std::int64_t point,
                 const std::atomic<bool>& stop) -> std::optional<core::Outcome> {
    while (point >= 100 && !stop.load()) std::this_thread::yield();
    if (stop.load()) return std::nullopt;
    return of(point);
  };
  std::size_t taken = 0;
  pool.take = [&](std::int64_t, const core::Outcome&) { return ++taken, true; };
  pool.stop = [&] { return taken > 10; };
  EXPECT_FALSE(run_pool(pool));
  EXPECT_GT(taken, 10u);
  EXPECT_LE(taken, 100u);
}

TEST(SweepPool, InformsTheCallerOnceIfWorkDoesNotStopSoon) {
  PoolWork pool;
  pool.points = first(8);
  pool.threads = 2;
  // Work that ignores the request to stop until the caller has been informed.
  std::atomic<int> informed{0};
  pool.work = [&](std::int64_t, const std::atomic<bool>& stop) -> std::optional<core::Outcome> {
    while (!stop.load() || informed.load() == 0) std::this_thread::yield();
    return std::nullopt;
  };
  pool.stop = [] { return true; };
  pool.waiting = [&] { ++informed; };
  EXPECT_FALSE(run_pool(pool));
  EXPECT_EQ(informed.load(), 1);
}

TEST(SweepPool, ThrowsAnExceptionOfAThreadToTheCaller) {
  for (const int threads : {1, 3}) {
    PoolWork pool;
    pool.points = first(100);
    pool.threads = threads;
    pool.work = [](std::int64_t point, const std::atomic<bool>&) {
      if (point == 20) throw std::length_error("point 20");
      return of(point);
    };
    std::set<std::int64_t> taken;
    pool.take = [&](std::int64_t point, const core::Outcome&) {
      return taken.insert(point).second;
    };
    EXPECT_THROW(run_pool(pool), std::length_error);
    EXPECT_GE(taken.size(), 20u) << "completed points are kept";
    EXPECT_FALSE(taken.contains(20));
  }
}

TEST(SweepPool, StopsOnceAResultIsRefused) {
  PoolWork pool;
  pool.points = first(1000);
  pool.threads = 2;
  pool.work = [](std::int64_t point, const std::atomic<bool>&) { return of(point); };
  int taken = 0;
  pool.take = [&](std::int64_t, const core::Outcome&) { return ++taken < 5; };
  EXPECT_FALSE(run_pool(pool));
  EXPECT_EQ(taken, 5);
}

TEST(SweepPool, ReturnsAtOnceWithoutPoints) {
  PoolWork pool;
  EXPECT_TRUE(run_pool(pool));
}

TEST(SpreadOut, VisitsAllPointsAndEveryPrefixIsEvenlySpread) {
  for (const std::int64_t n : {0, 1, 2, 3, 10, 1000, 1024, 9973}) {
    const auto order = spread_out(first(n));
    EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(),
              static_cast<std::size_t>(n));
    if (n < 1000) continue;
    // Over the first tenth, no gap is longer than five times the average.
    std::vector<std::int64_t> some(order.begin(), order.begin() + n / 10);
    std::sort(some.begin(), some.end());
    for (std::size_t i = 1; i < some.size(); ++i) EXPECT_LE(some[i] - some[i - 1], 50) << n;
  }
}

}  // namespace
}  // namespace tutti::sim
