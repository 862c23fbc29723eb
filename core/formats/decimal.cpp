#include "core/formats/decimal.h"

#include <charconv>
#include <cmath>

namespace tutti::core {

std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits) {
  constexpr std::int64_t kLargest = 4'000'000'000'000'000'000;
  const bool negative = !text.empty() && text.front() == '-';
  std::string_view rest = text;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  std::int64_t value = 0;
  bool any = false, point = false;
  int behind = 0;
  for (const char c : rest) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c == 'e' || c == 'E') {
      // A number with an exponent, such as "1.5e3", is read as a double. No precision is lost,
      // because the program that wrote it also used a double.
      double number = 0;
      const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
      const auto [end, status] = std::from_chars(begin, text.data() + text.size(), number);
      const double scaled = number * std::pow(10.0, digits);
      if (status != std::errc() || end != text.data() + text.size() || !(std::abs(scaled) < 4e18))
        return std::nullopt;
      return static_cast<std::int64_t>(scaled);
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    if (point && ++behind > digits) continue;
    if (value > (kLargest - 9) / 10) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (!any) return std::nullopt;
  for (; behind < digits; ++behind) {
    if (value > kLargest / 10) return std::nullopt;
    value *= 10;
  }
  return negative ? -value : value;
}

}  // namespace tutti::core
