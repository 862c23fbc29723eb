#include "real/cuda/device_clock.h"

#include <algorithm>
#include <limits>

namespace tutti::real {
namespace {

constexpr int kRoundTrips = 5;
constexpr std::chrono::seconds kAge{1};

std::int64_t nanoseconds(DeviceClock::Clock::time_point t) {
  return std::chrono::nanoseconds(t.time_since_epoch()).count();
}

}  // namespace

int DeviceClock::align(const TuttiCudaApi& api, TuttiCudaStream* stream, std::uint64_t* stamp) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const std::int64_t before = nanoseconds(Clock::now());
    if (const int error = api.read_clock(stream, stamp); error != 0) return error;
    if (const int error = api.synchronize(stream); error != 0) return error;
    const std::int64_t after = nanoseconds(Clock::now());
    if (after - before >= shortest) continue;
    shortest = after - before;
    host_minus_device_ns_ = before + (after - before) / 2 - static_cast<std::int64_t>(*stamp);
  }
  aligned_ = Clock::now();
  is_aligned_ = true;
  return 0;
}

bool DeviceClock::is_old(Clock::time_point now) const {
  return !is_aligned_ || now - aligned_ > kAge;
}

std::uint64_t DeviceClock::to_device(Clock::time_point t) const {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, nanoseconds(t) - host_minus_device_ns_));
}

DeviceClock::Clock::time_point DeviceClock::to_host(std::uint64_t device_ns) const {
  return Clock::time_point(
      std::chrono::nanoseconds(static_cast<std::int64_t>(device_ns) + host_minus_device_ns_));
}

}  // namespace tutti::real
