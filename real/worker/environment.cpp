#include "real/worker/environment.h"

#include "real/emulate/devices.h"

namespace tutti::real {

namespace {

/// The tolerance for late wake-ups. If the delay is shorter than this, no other process waits
/// longer because of it.
constexpr std::chrono::milliseconds kTolerance{1};
/// Tolerance in an emulation. If an event is handled late, other processes wait only for the
/// event's messages, and these messages are in flight for their emulated time in any case. Messages
/// that actually arrive too late are counted (EmulatedNetwork).
constexpr std::chrono::hours kUnlimitedTolerance{24};

}  // namespace

Environment::Environment(const core::Scenario& scenario, double time_scale, Transport& transport,
                         std::unique_ptr<Devices> devices)
    : transport_(transport),
      timers_(time_scale > 0 ? std::chrono::microseconds(kUnlimitedTolerance) : kTolerance),
      devices_(std::move(devices)) {
  if (time_scale <= 0) return;
  scale_.factor = time_scale;
  devices_ = std::make_unique<EmulatedDevices>(scenario.plan.widest().group, scale_, timers_);
  network_ = std::make_unique<EmulatedNetwork>(scenario.plan, transport, scale_, timers_);
}

}  // namespace tutti::real
