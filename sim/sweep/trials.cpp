#include "sim/sweep/trials.h"

#include <algorithm>
#include <optional>

#include "sim/sweep/carry_out.h"
#include "sim/sweep/crowd.h"

namespace tutti::sim {

using core::Error;
using core::Expected;
using core::Outcome;

namespace {

/// A candidate that is by so much slower than the best so far will not become it.
constexpr double kHopeless = 1.25;

}  // namespace

std::optional<double> cost_of(const Outcome& outcome) {
  if (outcome.status != Outcome::Status::kDone) return std::nullopt;
  return static_cast<double>(std::max<std::int64_t>(1, outcome.step.count()));
}

Expected<void> Trials::take_over(const core::Library& library) {
  if (!store_) return {};
  if (const auto same = check_files(*store_, library); !same) return same;
  return store_->each([&](std::int64_t point, const Outcome& outcome) { tried_.emplace(point, outcome); });
}

Expected<bool> Trials::evaluate(const std::vector<std::int64_t>& points, core::Time hopeless) {
  CrowdWork crowd;
  for (const std::int64_t point : points) {
    if (!tried_.contains(point)) crowd.points.push_back(point);
  }
  crowd.threads = threads_;
  crowd.work = [&](std::int64_t point, const std::atomic<bool>& stop) {
    return evaluator_.at(space_.overrides(point), &stop, hopeless);
  };
  std::optional<Error> failed;
  crowd.take = [&](std::int64_t point, const Outcome& outcome) {
    tried_.emplace(point, outcome);
    if (!store_) return true;
    if (const auto kept = keep_files(*store_, evaluator_); !kept) failed = kept.error();
    if (failed) return false;
    if (const auto added = store_->add(point, outcome); !added) failed = added.error();
    return !failed;
  };
  crowd.stop = stop_;
  const bool all = run_crowd(crowd);
  if (failed) return tl::make_unexpected(*failed);
  return all;
}

Expected<bool> Trials::search(core::Tuner& tuner, core::Time now, const std::function<void(std::int64_t)>& progress) {
  for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
    const core::Time best = tuner.best() ? tried_.at(*tuner.best()).step : now;
    const core::Time hopeless =
        best == core::kNever ? best
                             : core::Time(static_cast<std::int64_t>(static_cast<double>(best.count()) * kHopeless));
    if (const auto all = evaluate(points, hopeless); !all || !*all) return all;
    for (const std::int64_t point : points) tuner.tell(point, cost_of(tried_.at(point)));
    if (progress) progress(tuner.told());
  }
  return true;
}

void Trials::forget_given_up(const std::vector<std::int64_t>& points) {
  std::erase_if(tried_, [&](const auto& one) {
    return one.second.stopped && std::find(points.begin(), points.end(), one.first) != points.end();
  });
}

}  // namespace tutti::sim
