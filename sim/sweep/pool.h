#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/explore/outcome.h"

namespace tutti::sim {

/// Work on each of `points`, on `threads` threads, each of which takes the next point when it has
/// completed one.
struct PoolWork {
  std::vector<std::int64_t> points;
  int threads = 1;
  /// Called on any thread; returns nothing once it is to stop.
  std::function<std::optional<core::Outcome>(std::int64_t point, const std::atomic<bool>& stop)>
      work;
  /// Called on the calling thread, in the order in which points are completed; returns false to end
  /// the work.
  std::function<bool(std::int64_t point, const core::Outcome&)> take;
  /// Called on the calling thread, now and then; returns true to stop.
  std::function<bool()> stop;
};

/// Returns true if all points are done.
bool run_pool(const PoolWork& work);

/// Reorders `points` so that any number of the first ones are spread over all. If the work ends
/// early, they are representative, and the remaining time can be estimated from them.
std::vector<std::int64_t> spread_out(std::vector<std::int64_t> points);

}  // namespace tutti::sim
