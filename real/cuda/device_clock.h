#pragma once

#include <chrono>
#include <cstdint>

#include "real/cuda/api.h"

namespace tutti::real {

/// A device's clock in terms of this process's. Devices count nanoseconds from a time of their own, at a rate that is off
/// by some millionths: so the two are laid side by side again now and then.
class DeviceClock {
 public:
  using Clock = std::chrono::steady_clock;

  /// Lays the clocks side by side, by the shortest of some round trips; off by at most half of that one. Waits for the
  /// stream. `stamp` is memory that device and host reach. ERRORS: CUDA's number.
  [[nodiscard]] int align(const TuttiCudaApi& api, TuttiCudaStream* stream, std::uint64_t* stamp);
  /// It is time to do so (again): some microseconds may have come together.
  [[nodiscard]] bool is_old(Clock::time_point now) const;

  /// REQUIRES: align() has succeeded. Times before the device's zero are its zero.
  [[nodiscard]] std::uint64_t to_device(Clock::time_point t) const;
  [[nodiscard]] Clock::time_point to_host(std::uint64_t device_ns) const;

 private:
  std::int64_t host_minus_device_ns_ = 0;
  Clock::time_point aligned_{};
  bool is_aligned_ = false;
};

}  // namespace tutti::real
