#pragma once

#include <cstdint>
#include <deque>

namespace tutti::real {

/// No clock shows a time this far from its beginning, in nanoseconds; and sums of such times stay in range.
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 59;

/// A ping and its answer: `sent` and `returned` are of our clock, `received` and `answered` of theirs, in nanoseconds.
struct ClockSample {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t answered = 0;
  std::int64_t returned = 0;

  [[nodiscard]] std::int64_t round_trip() const { return (returned - sent) - (answered - received); }
};

/// What another machine's monotonic clock shows against ours, with a bound that holds.
///
/// An answer cannot leave before the ping has come: that alone fences the offset in, to half the round trip, however the
/// trip divides into its two ways. Away from that moment the fence widens by the most that two clocks drift apart.
/// Where the fences of several samples overlap, there the offset is; its middle is the estimate, half its width the bound.
/// So a sample before a step and one after it make a bound that holds in between, and drift is followed.
class ClockOffset {
 public:
  /// Two clocks drift apart by at most this share: 200 millionths. Crystals keep to 100 each; NTP slews slower than that
  /// once it has settled.
  static constexpr std::int64_t kMostDriftPpm = 200;

  /// Of several samples of about the same time only the one with the least round trip need be told.
  void add(const ClockSample& sample);

  struct Estimate {
    std::int64_t offset_ns = 0;  ///< ours less theirs
    std::int64_t bound_ns = 0;   ///< it is no further off than this
  };
  /// When their clock shows `theirs_ns`. Without any sample, the clocks are the same.
  [[nodiscard]] Estimate at(std::int64_t theirs_ns) const;
  /// Their time in ours. Never runs backwards.
  [[nodiscard]] std::int64_t to_ours(std::int64_t theirs_ns) const { return theirs_ns + at(theirs_ns).offset_ns; }
  /// Our time in theirs, about now: as the last sample has it.
  [[nodiscard]] std::int64_t to_theirs(std::int64_t ours_ns) const;

  /// Of the last sample, when it was taken.
  [[nodiscard]] std::int64_t latest_bound_ns() const;
  /// Samples that cannot be true of clocks which drift no more than that: one of them was set, or stood still.
  [[nodiscard]] bool strayed() const { return strayed_; }

 private:
  struct Fence {
    std::int64_t at = 0;  ///< of their clock
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  std::deque<Fence> fences_;
  bool strayed_ = false;
};

}  // namespace tutti::real
