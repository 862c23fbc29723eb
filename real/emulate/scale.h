#pragma once

#include <chrono>
#include <cmath>

#include "core/base/units.h"

namespace tutti::real {

/// How much slower than the scenario's clock this run goes, so that a machine can stand in for a faster cluster.
struct TimeScale {
  double factor = 1;

  [[nodiscard]] std::chrono::nanoseconds here(core::Time time) const {
    return std::chrono::nanoseconds(std::llround(static_cast<double>(time.count()) * factor / 1000));
  }
};

}  // namespace tutti::real
