#pragma once

#include <map>
#include <vector>

#include "core/strategy/collective.h"
#include "real/emulate/scale.h"
#include "real/process/timers.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// Emulates the devices of the scenario's cluster in this process's memory: the cores do the work
/// at once, and it counts as done when the emulated device would have completed it. A device serves
/// as many requests at a time as it has threads, each at its part of the rate, in the order of the
/// requests: the model of the simulator (docs/models.md, "Reductions and copies").
class EmulatedDevices : public Devices {
 public:
  /// REQUIRES: group and timers outlive the devices.
  EmulatedDevices(const core::Group& group, const TimeScale& scale, Timers& timers)
      : group_(group), scale_(scale), timers_(timers) {}

  [[nodiscard]] bool host_reaches(core::Rank) const override { return true; }
  [[nodiscard]] Memory take(core::Rank rank, std::int64_t bytes, bool for_host) override {
    return host_.take(rank, bytes, for_host);
  }
  void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    host_.copy_now(to, from, bytes);
  }
  bool perform(const Work& work, Ticket ticket) override;
  core::Expected<void> poll(WorkListener& listener) override;
  [[nodiscard]] Clock::time_point next_due() const override { return timers_.next(); }

 private:
  [[nodiscard]] core::Time cost(const Work& work, const core::DeviceRates& rates) const;

  const core::Group& group_;
  TimeScale scale_;
  Timers& timers_;
  HostDevices host_;
  std::map<core::PartId, std::vector<Clock::time_point>>
      free_;  ///< per device: when each of its threads is free
  std::vector<Ticket> done_;
};

}  // namespace tutti::real
