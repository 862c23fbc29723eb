#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/units.h"

namespace tutti::real {

/// The longest duration here (417 days): longer ones saturate, so that a hundred of them can still
/// be added.
inline constexpr std::chrono::nanoseconds kLongestHere{std::int64_t{1} << 55};

/// The factor by which this run is slower than the scenario's clock, so that one machine can
/// emulate a faster cluster.
struct TimeScale {
  double factor = 1;

  /// Returns the duration here to the nearest nanosecond; saturates at kLongestHere. REQUIRES: time
  /// and factor ≥ 0.
  [[nodiscard]] std::chrono::nanoseconds here(core::Time time) const {
    const double ns = static_cast<double>(time.count()) * factor / 1000;
    return ns < static_cast<double>(kLongestHere.count())
               ? std::chrono::nanoseconds(std::llround(ns))
               : kLongestHere;
  }
};

/// Returns `t` + `duration`, limited to 146 years after the clock's beginning so that queues cannot
/// overflow it.
/// REQUIRES: t is not before the clock's beginning, 0 ≤ duration ≤ kLongestHere.
inline std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point t,
                                                   std::chrono::nanoseconds duration) {
  constexpr std::chrono::steady_clock::time_point kEnd{
      std::chrono::nanoseconds(std::int64_t{1} << 62)};
  return t < kEnd - duration ? t + duration : kEnd;
}

}  // namespace tutti::real
