#include "sim/sweep/trials.h"

#include <algorithm>
#include <optional>

#include "sim/sweep/execute_points.h"
#include "sim/sweep/pool.h"

namespace tutti::sim {

using core::Error;
using core::Expected;
using core::Outcome;

namespace {

/// The number of points that a search evaluates together before it uses their results.
constexpr std::size_t kAtATime = 8;

}  // namespace

std::optional<double> cost_of(const Outcome& outcome) {
  if (outcome.status != Outcome::Status::kDone) return std::nullopt;
  return static_cast<double>(std::max<std::int64_t>(1, outcome.step.count()));
}

Expected<void> Trials::take_over(const core::Library& library) {
  if (!store_) return {};
  if (const auto same = check_files(*store_, library); !same) return same;
  return store_->each(
      [&](std::int64_t point, const Outcome& outcome) { tried_.emplace(point, outcome); });
}

Expected<bool> Trials::evaluate(const std::vector<std::int64_t>& points, core::Time max_step_time) {
  PoolWork pool;
  for (const std::int64_t point : points) {
    if (!tried_.contains(point)) pool.points.push_back(point);
  }
  pool.threads = threads_;
  pool.work = [&](std::int64_t point, const std::atomic<bool>& stop) {
    return evaluator_.at(space_.overrides(point), &stop, max_step_time);
  };
  std::optional<Error> failed;
  std::int64_t done = 0;
  pool.take = [&](std::int64_t point, const Outcome& outcome) {
    tried_.emplace(point, outcome);
    ++done;
    if (!store_) return true;
    if (const auto kept = keep_files(*store_, evaluator_); !kept) failed = kept.error();
    if (failed) return false;
    if (const auto added = store_->add(point, outcome); !added) failed = added.error();
    return !failed;
  };
  pool.stop = [&] {
    if (watch_) watch_(done);
    return stop_();
  };
  pool.waiting = waiting_;
  const bool all = run_pool(pool);
  if (failed) return tl::make_unexpected(*failed);
  return all;
}

Expected<bool> Trials::search(core::Tuner& tuner, core::Time now,
                              const std::function<void(std::int64_t)>& progress) {
  if (progress) watch_ = [&](std::int64_t done) { progress(tuner.evaluated() + done); };
  Expected<bool> all = true;
  for (auto points = tuner.next(); all && *all && !points.empty(); points = tuner.next()) {
    // Evaluate a few points at a time, because their results determine the limit at which later
    // evaluations stop early. The number of points is constant, so that the result of the search
    // does not depend on the number of threads.
    for (std::size_t from = 0; all && *all && from < points.size(); from += kAtATime) {
      const core::Time best = tuner.best() ? tried_.at(*tuner.best()).step : now;
      const core::Time max_step_time = best == core::kNever
                                           ? best
                                           : core::Time(static_cast<std::int64_t>(
                                                 static_cast<double>(best.count()) * kMaxSlowdown));
      const std::vector<std::int64_t> some(
          points.begin() + from, points.begin() + std::min(points.size(), from + kAtATime));
      all = evaluate(some, max_step_time);
      if (!all || !*all) break;
      for (const std::int64_t point : some) {
        const bool compared = !comparable_ || comparable_(point);
        tuner.tell(point, compared ? cost_of(tried_.at(point)) : std::nullopt);
      }
      if (progress) progress(tuner.evaluated());
    }
    if (!all || !*all) break;
  }
  watch_ = nullptr;
  return all;
}

void Trials::discard_stopped(const std::vector<std::int64_t>& points) {
  std::erase_if(tried_, [&](const auto& one) {
    return one.second.stopped && std::find(points.begin(), points.end(), one.first) != points.end();
  });
}

}  // namespace tutti::sim
