#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace tutti::core {

/// An integer with a unit. The compiler rejects arithmetic that mixes units; `count()` returns the
/// plain number.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.count_ + b.count_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.count_ - b.count_);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.count_ * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return a * n; }
  /// Returns the quotient `a` / `b`, rounded towards zero.
  friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }

 private:
  std::int64_t count_ = 0;
};

/// A point in virtual time, or a duration, in picoseconds. The largest value is 106 days.
using Time = Quantity<struct PicosecondTag>;

/// A number of bytes.
using Bytes = Quantity<struct ByteTag>;

/// A rate in whole bytes per second, so that times computed from it are exact.
using Bandwidth = Quantity<struct BytesPerSecondTag>;

/// An unsigned integer that can hold the product of two 64-bit numbers. unsigned __int128 is an
/// extension of GCC and Clang, so other code uses this alias (except CUDA modules, which do not
/// include this header).
__extension__ using Wide = unsigned __int128;

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;
/// A time later than any event. kNever means that an event will never happen, or that its time is
/// not known yet.
inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};
/// The longest duration (40 hours). Longer durations are reduced to this value. `kHorizon` is 32
/// times as long.
inline constexpr Time kLongestDuration{std::int64_t{1} << 57};
/// A run that reaches this virtual time (53 days) is stopped with an error.
inline constexpr Time kHorizon{std::int64_t{1} << 62};

constexpr Time picoseconds(std::int64_t n) { return Time(n); }
constexpr Time nanoseconds(std::int64_t n) { return Time(n * 1'000); }
constexpr Time microseconds(std::int64_t n) { return Time(n * 1'000'000); }
constexpr Time milliseconds(std::int64_t n) { return Time(n * 1'000'000'000); }

/// Returns `us` microseconds, rounded to the nearest picosecond.
/// REQUIRES: `us` is finite, and the result is below `kLongestDuration`.
Time time_from_us(double us);
/// Returns `gb_per_s` · 10^9 bytes per second, rounded to the nearest integer.
/// REQUIRES: 0 ≤ gb_per_s < 9·10^9, and finite.
Bandwidth bandwidth_from_gb_per_s(double gb_per_s);
/// Returns `share` in parts per million, rounded to the nearest integer.
/// REQUIRES: 0 ≤ share < 9·10^12, and finite.
std::int64_t ppm_from_share(double share);

inline double to_us(Time t) { return static_cast<double>(t.count()) / 1e6; }
inline double to_ms(Time t) { return static_cast<double>(t.count()) / 1e9; }
inline double to_gb_per_s(Bandwidth b) { return static_cast<double>(b.count()) / 1e9; }

/// Returns `part` divided by `whole`; 0 if `whole` is zero.
constexpr double share(Time part, Time whole) {
  return whole > Time() ? static_cast<double>(part.count()) / static_cast<double>(whole.count())
                        : 0;
}

/// Returns the transfer time of `bytes` at `rate`, rounded up to a picosecond. The time is rounded
/// up because a message has arrived only when its last bit has arrived. The result is at most
/// `kLongestDuration`. REQUIRES: bytes ≥ 0, rate > 0.
Time transfer_time(Bytes bytes, Bandwidth rate);
/// Returns the transfer time of `times` · `bytes`; the product may exceed 64 bits.
/// REQUIRES: times ≥ 0.
Time transfer_time(std::int64_t times, Bytes bytes, Bandwidth rate);

/// Returns `t` + `duration`, but at most `kHorizon` + `kLongestDuration`. The limit on the result
/// prevents an overflow before the run is stopped at kHorizon. REQUIRES: duration ≤
/// kLongestDuration.
constexpr Time later(Time t, Time duration) {
  const Time sum = t + duration;
  return sum < kHorizon + kLongestDuration ? sum : kHorizon + kLongestDuration;
}

/// Returns `a` + `b`, or the largest int64 if the sum does not fit. REQUIRES: both ≥ 0.
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max()
                                                          : a + b;
}

}  // namespace tutti::core
