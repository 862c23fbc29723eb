#pragma once

#include <string_view>

namespace tutti::core {

/// The reduction operation of a collective. A mean is computed as a sum; the complete sum is then
/// divided.
enum class Reduction { kSum, kMean, kMin, kMax, kProduct };

/// Returns "sum", "mean", "min", "max" or "prod".
std::string_view to_string(Reduction reduction);

}  // namespace tutti::core
