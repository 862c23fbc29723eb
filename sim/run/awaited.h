#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cluster/cluster.h"

namespace tutti::sim {

/// Determines which device's gradients were ready last in a training step, and for how long the
/// other devices waited for it.
struct Awaited {
  std::int64_t replicas = 0;
  /// The times at which the last gradients of each replica were ready, summed over all replicas.
  core::Wide ready = 0;
  /// The durations from the start of the step until the last gradients of each replica were ready,
  /// summed over all replicas.
  core::Wide needed = 0;
  core::PartId last;
  core::Time last_ready, last_needed;

  /// Records that all gradients of `device` were ready at the time `at`. The device began the step
  /// at `began`. `times` is the number of workers that the device's worker represents. Calls must
  /// be in ascending order of `at`.
  void add(core::PartId device, core::Time began, core::Time at, std::int64_t times) {
    replicas += times;
    ready += static_cast<core::Wide>(at.count()) * static_cast<core::Wide>(times);
    needed += static_cast<core::Wide>((at - began).count()) * static_cast<core::Wide>(times);
    if (at < last_ready) return;
    last = device;
    last_ready = at;
    last_needed = at - began;
  }
  /// Returns the time at which the last device was ready, minus the mean of the times at which the
  /// other devices were ready. A late start of the step on the last device does not count: the
  /// result is at most the difference between the duration on this device and the average duration
  /// on the other devices. The result is at least 0. REQUIRES: several replicas.
  [[nodiscard]] core::Time waited() const {
    const auto mean_of_others = [this](core::Wide sum, core::Time own) {
      const auto others = static_cast<core::Wide>(replicas - 1);
      return core::Time(static_cast<std::int64_t>(
          (sum - static_cast<core::Wide>(own.count()) + others - 1) / others));
    };
    const core::Time later = last_ready - mean_of_others(ready, last_ready);
    const core::Time longer = last_needed - mean_of_others(needed, last_needed);
    return std::max(core::Time(), std::min(later, longer));
  }
};

}  // namespace tutti::sim
