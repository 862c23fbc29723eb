#pragma once

#include <map>
#include <vector>

#include "core/strategy/collective.h"
#include "real/emulate/scale.h"
#include "real/process/timers.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// Emulates the devices of the scenario's cluster in this process's memory. The calling thread
/// executes a request immediately. However, the request is reported as done only when the emulated
/// device would have completed it. A device with n threads serves up to n requests at a time, in
/// order of arrival, each at 1/n of the device's rate. The simulator models a device's threads in
/// the same way (docs/models.md, "Reductions and copies").
class EmulatedDevices : public Devices {
 public:
  /// REQUIRES: group and timers outlive this object.
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
  /// For each device, the times at which its threads become free.
  std::map<core::PartId, std::vector<Clock::time_point>> free_;
  std::vector<Ticket> done_;
};

}  // namespace tutti::real
