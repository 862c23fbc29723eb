#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::core {

/// The whole number that is `text` times 10^`digits`, rounded towards zero: of "12.3456", 3 →
/// 12345. Nothing if `text` is no plain decimal number (an exponent is taken where the number is
/// not exact anyway), or the result beyond ±4·10^18.
std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits);

}  // namespace tutti::core
