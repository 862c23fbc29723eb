#include "core/base/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tutti::core {
namespace {

/// Returns `value`, followed by its unit. The value has 3 + `more` significant digits.
std::string with_digits(double value, std::string_view unit, int more = 0) {
  const double size = std::abs(value);
  const int decimals = (size >= 99.95 ? 0 : (size >= 9.995 ? 1 : 2)) + more;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string show_with(Time time, int more) {
  const double ps = static_cast<double>(time.count());
  const double size = std::abs(ps);
  if (size == 0) return "0 s";
  if (size < 999.5) return fmt::format("{} ps", time.count());
  if (size < 999.5e3) return with_digits(ps / 1e3, "ns", more);
  if (size < 999.5e6) return with_digits(ps / 1e6, "µs", more);
  if (size < 999.5e9) return with_digits(ps / 1e9, "ms", more);
  return with_digits(ps / 1e12, "s", more);
}

}  // namespace

std::string show(Time time) { return show_with(time, 0); }

std::vector<std::string> show_distinct(const std::vector<Time>& times) {
  std::vector<Time> different = times;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  constexpr int kMore = 4;
  int more = 0;
  const auto alike = [&] {
    return std::adjacent_find(different.begin(), different.end(), [&](Time a, Time b) {
             return show_with(a, more) == show_with(b, more);
           }) != different.end();
  };
  while (more < kMore && alike()) ++more;
  std::vector<std::string> shown;
  for (const Time time : times) shown.push_back(show_with(time, more));
  return shown;
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

std::string show_exact(Bytes bytes) {
  constexpr std::array<std::pair<const char*, std::int64_t>, 6> kUnits{
      {{"GiB", std::int64_t{1} << 30},
       {"GB", 1'000'000'000},
       {"MiB", std::int64_t{1} << 20},
       {"MB", 1'000'000},
       {"KiB", std::int64_t{1} << 10},
       {"KB", 1'000}}};
  for (const auto& [unit, size] : kUnits) {
    if (bytes.count() > 0 && bytes.count() % size == 0)
      return fmt::format("{} {}", bytes.count() / size, unit);
  }
  return fmt::format("{} byte{}", bytes.count(), bytes.count() == 1 ? "" : "s");
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
