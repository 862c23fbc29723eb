#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/units.h"

namespace tutti::real {

/// The maximum duration in real time (417 days). Longer durations are reduced to this value, so
/// that a hundred durations can be added without overflow.
inline constexpr std::chrono::nanoseconds kLongestHere{std::int64_t{1} << 55};

/// The factor by which this run is slower than the scenario. A slow run lets one machine emulate a
/// faster cluster.
struct TimeScale {
  double factor = 1;

  /// Converts a duration of the scenario to real time, rounded to the nearest nanosecond; at most
  /// kLongestHere. REQUIRES: time and factor ≥ 0.
  [[nodiscard]] std::chrono::nanoseconds here(core::Time time) const {
    const double ns = static_cast<double>(time.count()) * factor / 1000;
    return ns < static_cast<double>(kLongestHere.count())
               ? std::chrono::nanoseconds(std::llround(ns))
               : kLongestHere;
  }
};

/// Returns `t` + `duration`, but at most 146 years after the clock's origin, so that sums of many
/// durations cannot overflow the clock.
/// REQUIRES: t is not before the clock's origin, 0 ≤ duration ≤ kLongestHere.
inline std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point t,
                                                   std::chrono::nanoseconds duration) {
  constexpr std::chrono::steady_clock::time_point kEnd{
      std::chrono::nanoseconds(std::int64_t{1} << 62)};
  return t < kEnd - duration ? t + duration : kEnd;
}

}  // namespace tutti::real
