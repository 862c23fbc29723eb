#pragma once

#include <cstdint>

namespace tutti::real {

// What a real run may be asked for: by options, which say what is wrong with a value beyond, and by messages, which are refused.

inline constexpr double kMostTimeoutSeconds = 86'400;
inline constexpr double kLeastTimeScale = 0.001;
inline constexpr double kMostTimeScale = 1e6;
inline constexpr std::int32_t kMostIterations = 100'000'000;  ///< of a benchmark, timed
inline constexpr std::int32_t kMostWarmUp = 100'000;          ///< and before them

}  // namespace tutti::real
