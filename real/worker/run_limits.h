#pragma once

#include <cstdint>

namespace tutti::real {

// Limits of a real run's parameters. Options report values outside them as errors, and messages
// with such values are rejected.

inline constexpr double kMaxTimeoutSeconds = 86'400;
inline constexpr double kMinTimeScale = 0.001;
inline constexpr double kMaxTimeScale = 1e6;
inline constexpr std::int32_t kMaxIterations = 100'000'000;  ///< timed iterations of a benchmark
inline constexpr std::int32_t kMaxWarmUp = 100'000;          ///< iterations before them

}  // namespace tutti::real
