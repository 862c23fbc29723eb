#pragma once

// Limits on the values of a scenario. The limits are far above the values of real hardware. With
// these limits, no time or size can overflow.

#include <cstdint>

namespace tutti::core {

inline constexpr double kMinGbPerS = 1e-6;
inline constexpr double kMaxGbPerS = 1e6;
inline constexpr double kMaxLatencyUs = 1e9;
inline constexpr double kMaxMilliseconds = 1e8;  ///< about 28 hours
/// The maximum number of elements of a gradient, and of a model.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 46;
inline constexpr std::int64_t kMaxWorkers = 10'000'000;
inline constexpr std::int32_t kMaxSteps = 100'000;
inline constexpr int kDeepestNesting = 64;  ///< maximum depth of nested values in a text

}  // namespace tutti::core
