#pragma once

#include <cstdint>
#include <deque>

#include "real/worker/run_limits.h"

namespace tutti::real {

/// The times of a ping and its reply, in nanoseconds. `sent` and `returned` are times of this
/// process's clock. `received` and `answered` are times of the other machine's clock.
struct ClockSample {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t answered = 0;
  std::int64_t returned = 0;

  [[nodiscard]] std::int64_t round_trip() const {
    return (returned - sent) - (answered - received);
  }
};

/// The offset between another machine's monotonic clock and this process's clock, with a guaranteed
/// error bound.
///
/// A reply cannot leave before the ping has arrived. The four times of one sample therefore limit
/// the offset to an interval as long as the round trip, even if one direction takes longer than the
/// other. For times before or after the sample, the interval widens by the maximum drift between
/// two clocks. The offset lies in the intersection of the intervals of several samples. The middle
/// of the intersection is the estimate, and half its width is the error bound. A sample before a
/// training step and a sample after the step together give a bound that holds during the whole
/// step, even if the clocks drift.
class ClockOffset {
 public:
  /// The maximum drift between two clocks in parts per million. Each clock's crystal deviates by at
  /// most 100 ppm. Once NTP has settled, its corrections change a clock's rate by less than 100
  /// ppm.
  static constexpr std::int64_t kMaxDriftPpm = 200;

  /// Adds a sample. If several samples are taken at about the same time, only the sample with the
  /// shortest round trip is needed.
  void add(const ClockSample& sample);

  struct Estimate {
    std::int64_t offset_ns = 0;  ///< the coordinator's clock minus the worker's clock, in ns
    std::int64_t bound_ns = 0;   ///< the maximum error of offset_ns
  };
  /// Returns the offset at time `theirs_ns` of the other machine's clock. The offset is 0 if there
  /// is no sample.
  [[nodiscard]] Estimate at(std::int64_t theirs_ns) const;
  /// Converts a time of the other machine's clock to this process's clock. Monotonic.
  [[nodiscard]] std::int64_t to_ours(std::int64_t theirs_ns) const {
    return theirs_ns + at(theirs_ns).offset_ns;
  }
  /// Converts a time of this process's clock to the other machine's clock, using the last sample.
  /// REQUIRES: the time is close to the current time.
  [[nodiscard]] std::int64_t to_theirs(std::int64_t ours_ns) const;

  /// Returns the error bound of the last sample at the time when it was taken.
  [[nodiscard]] std::int64_t latest_bound_ns() const;
  /// Returns true if the samples contradict the maximum drift, because one of the clocks was set or
  /// stood still.
  [[nodiscard]] bool drift_exceeded() const { return drift_exceeded_; }

 private:
  struct Fence {
    std::int64_t at = 0;  ///< the time of the sample, by the worker's clock
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  std::deque<Fence> fences_;
  bool drift_exceeded_ = false;
};

}  // namespace tutti::real
