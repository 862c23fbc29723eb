#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core {

/// The whole number that all of `text` spells in decimal; nothing if it spells none, or one beyond the type.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The finite number that `text` spells as a whole; nothing if it spells none.
std::optional<double> number_of(const std::string& text);

/// Likewise, from `least` to `most`. Nothing, and a problem at `where` that names it
/// `what`, if it spells none or one out of bounds.
std::optional<double> read_number(const std::string& text, const Location& where, const std::string& what, double least,
                                  double most, Problems& problems);

}  // namespace tutti::core
