#include "real/worker/ground.h"

#include "real/emulate/devices.h"

namespace tutti::real {

namespace {

/// What a wake-up may be late without anybody waiting longer for it.
constexpr std::chrono::milliseconds kForgiven{1};
/// Whatever is handled late, others wait for no more than its messages, which are under way for their emulated time.
/// Those that really come too late do count (EmulatedNetwork).
constexpr std::chrono::hours kAllForgiven{24};

}  // namespace

Ground::Ground(const core::Scenario& scenario, double time_scale, Transport& transport,
               std::unique_ptr<Devices> devices)
    : transport_(transport),
      timers_(time_scale > 0 ? std::chrono::microseconds(kAllForgiven) : kForgiven),
      devices_(std::move(devices)) {
  if (time_scale <= 0) return;
  scale_.factor = time_scale;
  devices_ = std::make_unique<EmulatedDevices>(scenario.plan.widest().group, scale_, timers_);
  network_ = std::make_unique<EmulatedNetwork>(scenario.plan, transport, scale_, timers_);
}

}  // namespace tutti::real
