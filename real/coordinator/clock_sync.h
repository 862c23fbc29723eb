#pragma once

#include <cstdint>
#include <deque>

#include "real/worker/run_limits.h"

namespace tutti::real {

/// A ping and its reply, in nanoseconds: `sent` and `returned` are times of our clock, `received`
/// and `answered` times of theirs.
struct ClockSample {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t answered = 0;
  std::int64_t returned = 0;

  [[nodiscard]] std::int64_t round_trip() const {
    return (returned - sent) - (answered - received);
  }
};

/// The offset between the monotonic clock of another machine and ours, with a guaranteed bound.
///
/// A reply cannot leave before the ping has arrived. This alone limits the offset to an interval of
/// the length of the round trip, however the trip divides into its two directions. The interval
/// widens with the distance from that moment, by the maximum drift between two clocks. The offset
/// lies where the intervals of several samples overlap; the middle of the overlap is the estimate,
/// half its width the bound. So a sample before a step and one after it give a bound that holds in
/// between, and drift is followed.
class ClockOffset {
 public:
  /// The maximum drift between two clocks: 200 millionths. Crystals keep to 100 each; NTP slews
  /// slower than that once it has settled.
  static constexpr std::int64_t kMaxDriftPpm = 200;

  /// Adds a sample. Among several samples taken at about the same time, the one with the shortest
  /// round trip suffices.
  void add(const ClockSample& sample);

  struct Estimate {
    std::int64_t offset_ns = 0;  ///< the coordinator's clock minus the worker's clock, in ns
    std::int64_t bound_ns = 0;   ///< the maximum error of offset_ns
  };
  /// Returns the offset when their clock shows `theirs_ns`. Without any sample, the clocks are the
  /// same.
  [[nodiscard]] Estimate at(std::int64_t theirs_ns) const;
  /// Converts a time of their clock to ours. Monotonic.
  [[nodiscard]] std::int64_t to_ours(std::int64_t theirs_ns) const {
    return theirs_ns + at(theirs_ns).offset_ns;
  }
  /// Converts a time of our clock, close to now, to theirs, by the last sample.
  [[nodiscard]] std::int64_t to_theirs(std::int64_t ours_ns) const;

  /// Returns the bound of the last sample at the time when it was taken.
  [[nodiscard]] std::int64_t latest_bound_ns() const;
  /// True if samples contradict the maximum drift: one of the clocks was set, or stood still.
  [[nodiscard]] bool strayed() const { return strayed_; }

 private:
  struct Fence {
    std::int64_t at = 0;  ///< when the sample was taken, by the worker's clock
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  std::deque<Fence> fences_;
  bool strayed_ = false;
};

}  // namespace tutti::real
