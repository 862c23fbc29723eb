#include "core/base/units.h"

#include <cmath>

#include "core/base/check.h"

namespace tutti::core {

Time time_from_us(double us) {
  const double ps = us * 1e6;
  TUTTI_CHECK(std::isfinite(ps) && std::abs(ps) <= static_cast<double>(kLongestDuration.count()),
              "us = {}", us);
  return Time(std::llround(ps));
}

Bandwidth bandwidth_from_gb_per_s(double gb_per_s) {
  TUTTI_CHECK(std::isfinite(gb_per_s) && gb_per_s >= 0 && gb_per_s < 9e9, "gb_per_s = {}",
              gb_per_s);
  return Bandwidth(std::llround(gb_per_s * 1e9));
}

std::int64_t ppm_from_share(double share) {
  TUTTI_CHECK(std::isfinite(share) && share >= 0 && share < 9e12, "share = {}", share);
  return std::llround(share * 1e6);
}

Time transfer_time(Bytes bytes, Bandwidth rate) {
  TUTTI_CHECK(bytes.count() >= 0 && rate.count() > 0, "bytes = {}, rate = {}", bytes.count(),
              rate.count());
  // For most messages, the product fits into 64 bits; only messages above 9 MB need the slower
  // 128-bit division.
  constexpr std::int64_t kFits = std::numeric_limits<std::int64_t>::max() / kPicosecondsPerSecond;
  if (bytes.count() < kFits) {
    const std::int64_t product = bytes.count() * kPicosecondsPerSecond;
    const std::int64_t whole = product / rate.count();
    const Time t(whole + (whole * rate.count() != product ? 1 : 0));
    return t < kLongestDuration ? t : kLongestDuration;
  }
  const Wide product = static_cast<Wide>(bytes.count()) * static_cast<Wide>(kPicosecondsPerSecond);
  const Wide divisor = static_cast<Wide>(rate.count());
  const Wide ps = (product + divisor - 1) / divisor;
  const Wide longest = static_cast<Wide>(kLongestDuration.count());
  return Time(static_cast<std::int64_t>(ps < longest ? ps : longest));
}

Time transfer_time(std::int64_t times, Bytes bytes, Bandwidth rate) {
  TUTTI_CHECK(times >= 0 && bytes.count() >= 0, "times = {}, bytes = {}", times, bytes.count());
  const Wide product = static_cast<Wide>(times) * static_cast<Wide>(bytes.count());
  if (product > static_cast<Wide>(std::numeric_limits<std::int64_t>::max()))
    return kLongestDuration;
  return transfer_time(Bytes(static_cast<std::int64_t>(product)), rate);
}

}  // namespace tutti::core
