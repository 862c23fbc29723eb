#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core {

/// Parses the whole text as a decimal integer. Returns nullopt if the text is not an integer, or
/// the integer does not fit the type.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses the whole text as a finite number. Returns nullopt if the text is not a finite number.
std::optional<double> number_of(const std::string& text);

/// Parses `text` and returns the number if it is between `least` and `most`. If the text is not
/// such a number, returns nullopt and adds a problem at `where`; `what` is the number's name in the
/// text of the problem.
std::optional<double> read_number(const std::string& text, const Location& where,
                                  const std::string& what, double least, double most,
                                  Problems& problems);

}  // namespace tutti::core
