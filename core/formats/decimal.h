#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::core {

/// Returns `text` times 10^`digits` as a whole number, rounded towards zero: "12.3456" with 3
/// digits is 12345. Returns nullopt if `text` is not a plain decimal number (an exponent is
/// accepted if the number is inexact anyway), or the result is beyond ±4·10^18.
std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits);

}  // namespace tutti::core
