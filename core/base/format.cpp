#include "core/base/format.h"

#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace tutti::core {
namespace {

/// `value` of a unit with three digits that matter.
std::string with_digits(double value, std::string_view unit) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : (size >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

std::string show(Time time) {
  const double ps = static_cast<double>(time.count());
  const double size = std::abs(ps);
  if (size == 0) return "0 s";
  if (size < 999.5) return fmt::format("{} ps", time.count());
  if (size < 999.5e3) return with_digits(ps / 1e3, "ns");
  if (size < 999.5e6) return with_digits(ps / 1e6, "µs");
  if (size < 999.5e9) return with_digits(ps / 1e9, "ms");
  return with_digits(ps / 1e12, "s");
}

std::string show(Bytes bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"B", "KB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes.count());
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes.count()) : with_digits(value, kUnits[unit]);
}

std::string show(Bandwidth bandwidth) { return with_digits(to_gb_per_s(bandwidth), "GB/s"); }

std::string show_count(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) text.insert(at -= 3, ",");
  return text;
}

std::int64_t round_step(std::int64_t least) {
  std::int64_t power = 1;
  while (power * 10 <= least) power *= 10;
  for (const std::int64_t factor : {1, 2, 5}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

std::string show_share(double share) {
  if (share == 0) return "0 %";
  if (share < 0.001) return "<0.1 %";
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace tutti::core
