#include "real/worker/environment.h"

#include "real/emulate/devices.h"

namespace tutti::real {

namespace {

/// In a run without emulation: if an action of Timers runs late by at most this time, the action
/// sees the planned time instead of the actual time. Shorter delays do not make other processes
/// wait longer.
constexpr std::chrono::milliseconds kTolerance{1};
/// In an emulation, an action sees its planned time after delays of any length. If an event is
/// handled late, other processes wait only for the messages that the event sends, and these
/// messages are in flight for their emulated time in any case. Messages that actually arrive too
/// late are counted (EmulatedNetwork).
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
