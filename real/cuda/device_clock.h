#pragma once

#include <chrono>
#include <cstdint>

#include "real/cuda/api.h"

namespace tutti::real {

/// Converts between a device's clock and this process's clock. A device counts nanoseconds from its
/// own origin. The rate of this clock is off by some parts per million, so the clocks have to be
/// aligned repeatedly.
class DeviceClock {
 public:
  using Clock = std::chrono::steady_clock;

  /// Aligns the clocks by the shortest of several round trips; the error is at most half of the
  /// shortest round trip. Waits for the stream. `stamp` is memory that both device and host can
  /// access. Returns 0 or a CUDA error number.
  [[nodiscard]] int align(const TuttiCudaApi& api, TuttiCudaStream* stream, std::uint64_t* stamp);
  /// Returns true if the clocks were never aligned, or if the error may have grown to some
  /// microseconds since the last alignment.
  [[nodiscard]] bool is_old(Clock::time_point now) const;

  /// Converts a time of this process to the device's clock; 0 if the time is before the device's
  /// origin.
  /// REQUIRES: align() has succeeded.
  [[nodiscard]] std::uint64_t to_device(Clock::time_point t) const;
  [[nodiscard]] Clock::time_point to_host(std::uint64_t device_ns) const;

 private:
  std::int64_t host_minus_device_ns_ = 0;
  Clock::time_point aligned_{};
  bool is_aligned_ = false;
};

}  // namespace tutti::real
