#include "core/base/number.h"

#include <charconv>
#include <cmath>

namespace tutti::core {

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> read_number(const std::string& text, const Location& where,
                                  const std::string& what, double least, double most,
                                  Problems& problems) {
  const auto value = number_of(text);
  if (!value) {
    problems.add({ProblemCode::kWrongType, what}, where, "{}: \"{}\" is not a number", what, text);
    return std::nullopt;
  }
  if (*value < least || *value > most) {
    problems.add({*value < least ? ProblemCode::kTooSmall : ProblemCode::kTooLarge, what}, where,
                 "{} must be from {} to {} (got {})", what, least, most, text);
    return std::nullopt;
  }
  return value;
}

}  // namespace tutti::core
