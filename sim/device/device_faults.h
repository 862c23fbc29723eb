#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "core/scenario/conditions.h"

namespace tutti::sim {

/// The devices that are slow during some interval of the run, the devices whose hosts launch
/// kernels late, and the workers that are lost during the run.
class DeviceFaults {
 public:
  DeviceFaults() = default;
  /// REQUIRES: every entry states its worker; entries with random workers were replaced
  /// (core::chosen).
  explicit DeviceFaults(const std::vector<core::SlowDevices>& slow,
                        const std::vector<core::GoneWorker>& gone = {},
                        const std::vector<core::LateHost>& late = {}) {
    for (const core::LateHost& entry : late) late_[entry.worker].push_back(entry);
    for (const core::GoneWorker& entry : gone) {
      const auto [known, fresh] = gone_.try_emplace(entry.worker, entry.from);
      if (!fresh) known->second = std::min(known->second, entry.from);
    }
    for (const core::SlowDevices& entry : slow) by_worker_[entry.worker].push_back(entry);
  }

  /// Returns the time that an operation of nominal length `duration` takes on `device` if it begins
  /// at `now`. If several entries apply, their slowdowns multiply.
  [[nodiscard]] core::Time longer(core::PartId device, core::Time duration, core::Time now) const {
    if (by_worker_.empty()) return duration;
    const auto entries = by_worker_.find(device.worker);
    if (entries == by_worker_.end()) return duration;
    for (const core::SlowDevices& entry : entries->second) {
      if ((entry.part >= 0 && entry.part != device.part) || now < entry.from || now >= entry.to)
        continue;
      const core::Wide scaled = static_cast<core::Wide>(duration.count()) *
                                static_cast<core::Wide>(entry.slowdown_ppm) / 1'000'000;
      duration = core::Time(static_cast<std::int64_t>(
          std::min(scaled, static_cast<core::Wide>(core::kLongestDuration.count()))));
    }
    return duration;
  }

  /// Returns the time for which `device` idles because its host launches kernels late, before the
  /// backward segment with index `segment` or, if `segment` is -1, before the forward pass.
  [[nodiscard]] core::Time late(core::PartId device, std::int32_t segment) const {
    core::Time sum;
    const auto entries = late_.find(device.worker);
    if (entries == late_.end()) return sum;
    for (const core::LateHost& entry : entries->second) {
      const bool is_here = entry.part < 0 || entry.part == device.part;
      if (is_here && entry.segment == segment) sum += entry.gap;
    }
    return sum;
  }

  [[nodiscard]] bool loses_workers() const { return !gone_.empty(); }
  /// Returns true if the worker is lost at `now` or earlier. A lost worker does not complete any
  /// further operation.
  [[nodiscard]] bool gone(std::int64_t worker, core::Time now) const {
    if (gone_.empty()) return false;
    const auto entry = gone_.find(worker);
    return entry != gone_.end() && now >= entry->second;
  }

 private:
  std::map<std::int64_t, core::Time> gone_;  ///< for each lost worker, the time at which it is lost
  std::map<std::int64_t, std::vector<core::SlowDevices>> by_worker_;
  std::map<std::int64_t, std::vector<core::LateHost>> late_;
};

}  // namespace tutti::sim
