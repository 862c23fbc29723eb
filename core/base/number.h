#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core {

/// Returns the decimal whole number that `text` consists of; nullopt if it is none, or does not fit
/// the type.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the finite number that `text` consists of; nullopt if it is none.
std::optional<double> number_of(const std::string& text);

/// Returns the number if it lies between `least` and `most`. Otherwise adds a problem at `where`
/// that calls it `what`, and returns nullopt.
std::optional<double> read_number(const std::string& text, const Location& where,
                                  const std::string& what, double least, double most,
                                  Problems& problems);

}  // namespace tutti::core
