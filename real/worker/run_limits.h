#pragma once

#include <cstdint>

namespace tutti::real {

// Limits of the parameters of a real run. A value outside the limits is an error on the command
// line, and a message with such a value is rejected.

inline constexpr double kMaxTimeoutSeconds = 86'400;
/// The latest time in nanoseconds that any clock may show. The sum of several times up to this
/// limit does not overflow.
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 59;
inline constexpr double kMinTimeScale = 0.001;
inline constexpr double kMaxTimeScale = 1e6;
inline constexpr std::int32_t kMaxIterations = 100'000'000;  ///< timed iterations of a benchmark
inline constexpr std::int32_t kMaxWarmUp = 100'000;          ///< warm-up iterations of a benchmark

}  // namespace tutti::real
