#pragma once

// Limits on the values of a scenario. They are far beyond any hardware; within them no time or size
// overflows.

#include <cstdint>

namespace tutti::core {

inline constexpr double kMinGbPerS = 1e-6;
inline constexpr double kMaxGbPerS = 1e6;
inline constexpr double kMaxLatencyUs = 1e9;
inline constexpr double kMaxMilliseconds = 1e8;  ///< in milliseconds, about 28 hours
inline constexpr std::int64_t kMaxElements = std::int64_t{1}
                                             << 46;  ///< largest number of elements of one
                                                     ///< gradient, and of a model
inline constexpr std::int64_t kMaxWorkers = 10'000'000;
inline constexpr std::int32_t kMaxSteps = 100'000;
inline constexpr int kDeepestNesting = 64;  ///< largest depth of nested values in a text

}  // namespace tutti::core
