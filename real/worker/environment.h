#pragma once

#include <memory>

#include "core/scenario/scenario.h"
#include "real/emulate/network.h"
#include "real/process/timers.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// The environment of a worker's run: either the real links and devices of the machine, or an
/// emulation of the scenario's links and devices.
class Environment {
 public:
  /// `time_scale`: the factor by which the emulation slows the scenario down; 0: nothing is
  /// emulated, and `devices` are used directly.
  /// REQUIRES: scenario and transport outlive this object.
  Environment(const core::Scenario& scenario, double time_scale, Transport& transport,
              std::unique_ptr<Devices> devices);

  [[nodiscard]] Transport& transport() {
    return network_ ? static_cast<Transport&>(*network_) : transport_;
  }
  [[nodiscard]] Devices& devices() { return *devices_; }
  [[nodiscard]] Timers& timers() { return timers_; }
  [[nodiscard]] const TimeScale& scale() const { return scale_; }
  [[nodiscard]] bool emulates() const { return network_ != nullptr; }

  /// Returns the counts of messages and of late messages in the emulated network; zeros if nothing
  /// is emulated.
  [[nodiscard]] EmulatedNetwork::LateMessages late_messages() const {
    return network_ ? network_->late_messages() : EmulatedNetwork::LateMessages{};
  }

 private:
  Transport& transport_;
  TimeScale scale_;
  Timers timers_;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<EmulatedNetwork> network_;
};

}  // namespace tutti::real
