#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/explore/outcome.h"

namespace tutti::sim {

/// A list of points to evaluate on `threads` threads. A thread that has completed a point continues
/// with the next one.
struct PoolWork {
  std::vector<std::int64_t> points;
  int threads = 1;
  /// Evaluates a point. Called on any thread. Returns nullopt if `stop` is set before the
  /// evaluation is complete.
  std::function<std::optional<core::Outcome>(std::int64_t point, const std::atomic<bool>& stop)>
      work;
  /// Called on the thread of the caller for every completed point, in the order of completion;
  /// returns false to end the work.
  std::function<bool(std::int64_t point, const core::Outcome&)> take;
  /// Called regularly on the thread of the caller; returns true if the execution has to stop.
  std::function<bool()> stop;
  /// Called at most once, on the thread of the caller, if threads have not ended half a second
  /// after `stop` has returned true. The reason is usually a simulation of a large cluster, whose
  /// set-up cannot be stopped.
  std::function<void()> waiting = {};
};

/// Executes the work. Returns true if all points are done. If `work` throws an exception, the other
/// threads complete their current points, and the first exception is thrown to the caller.
bool run_pool(const PoolWork& work);

/// Reorders `points` so that, for every n, the first n points of the result are spread evenly over
/// the original order. If the work ends early, the evaluated points are then representative of all
/// points. The times of the evaluated points can also be used to estimate the remaining time.
std::vector<std::int64_t> spread_out(std::vector<std::int64_t> points);

}  // namespace tutti::sim
