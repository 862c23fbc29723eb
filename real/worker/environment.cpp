#include "real/worker/environment.h"

#include "real/emulate/devices.h"

namespace tutti::real {

namespace {

/// The tolerance for late wake-ups. A delay shorter than this makes no other process wait longer.
constexpr std::chrono::milliseconds kTolerance{1};
/// Tolerance in an emulation. If an event is handled late, other processes wait only for the
/// event's messages, which are in flight for their emulated time anyway. Messages that really
/// arrive too late are counted (EmulatedNetwork).
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
