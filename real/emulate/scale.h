#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/units.h"

namespace tutti::real {

/// Nothing takes longer than this here (417 days): longer durations saturate, so that a hundred of them still add up.
inline constexpr std::chrono::nanoseconds kLongestHere{std::int64_t{1} << 55};

/// How much slower than the scenario's clock this run goes, so that a machine can stand in for a faster cluster.
struct TimeScale {
  double factor = 1;

  /// The nearest nanosecond; saturates at kLongestHere. REQUIRES: time and factor ≥ 0.
  [[nodiscard]] std::chrono::nanoseconds here(core::Time time) const {
    const double ns = static_cast<double>(time.count()) * factor / 1000;
    return ns < static_cast<double>(kLongestHere.count()) ? std::chrono::nanoseconds(std::llround(ns)) : kLongestHere;
  }
};

/// `t` + `duration`, at most 146 years after the clock's beginning: what queues up there adds up no more.
/// REQUIRES: t is not before the clock's beginning, 0 ≤ duration ≤ kLongestHere.
inline std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point t,
                                                   std::chrono::nanoseconds duration) {
  constexpr std::chrono::steady_clock::time_point kEnd{std::chrono::nanoseconds(std::int64_t{1} << 62)};
  return t < kEnd - duration ? t + duration : kEnd;
}

}  // namespace tutti::real
