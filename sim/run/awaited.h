#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cluster/cluster.h"

namespace tutti::sim {

/// Determines the device whose gradients were ready last in a training step, and the time for which
/// the other devices waited for it.
struct Awaited {
  std::int64_t replicas = 0;
  /// The sum over all replicas of the time at which the replica's last gradients were ready.
  core::Wide ready = 0;
  /// The sum over all replicas of the duration from the start of the step until the replica's last
  /// gradients were ready.
  core::Wide needed = 0;
  core::PartId last;
  core::Time last_ready, last_needed;

  /// Records that the gradients of `device`, which began the step at `began`, were ready at `at`.
  /// `times`: the number of workers that the worker of the device represents. Calls must be in
  /// ascending order of `at`.
  void add(core::PartId device, core::Time began, core::Time at, std::int64_t times) {
    replicas += times;
    ready += static_cast<core::Wide>(at.count()) * static_cast<core::Wide>(times);
    needed += static_cast<core::Wide>((at - began).count()) * static_cast<core::Wide>(times);
    if (at < last_ready) return;
    last = device;
    last_ready = at;
    last_needed = at - began;
  }
  /// Returns the delay of the last device: the difference between the time at which it was ready
  /// and the average time at which the other devices were ready. The delay is at least 0. The delay
  /// is at most the difference between the duration of the last device's step and the average
  /// duration on the other devices. REQUIRES: several replicas.
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
