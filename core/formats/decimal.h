#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::core {

/// Returns the decimal number `text` times 10^`digits`, rounded towards zero: "12.3456" with 3
/// digits gives 12345. Returns nullopt if `text` is not a decimal number, or the result is beyond
/// ±4·10^18. A number with an exponent is converted through double, and may be inexact.
std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits);

}  // namespace tutti::core
