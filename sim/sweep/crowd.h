#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/explore/outcome.h"

namespace tutti::sim {

/// Does something with each of `points` on `threads` threads, each of which takes the next point when it is through with one.
struct CrowdWork {
  std::vector<std::int64_t> points;
  int threads = 1;
  /// On any thread; nothing once it is to stop.
  std::function<std::optional<core::Outcome>(std::int64_t point, const std::atomic<bool>& stop)> work;
  /// On the calling thread, in the order in which points are done; false: no more of them.
  std::function<bool(std::int64_t point, const core::Outcome&)> take;
  /// On the calling thread, now and then; true: stop.
  std::function<bool()> stop;
};

/// Answers whether all points are done.
bool run_crowd(const CrowdWork& work);

/// `points` of which not all may be done in the end: in an order in which any number of the first ones are spread over all, so
/// that they stand for the others, and the time that is left can be told from them.
std::vector<std::int64_t> spread_out(std::vector<std::int64_t> points);

}  // namespace tutti::sim
