#pragma once

#include <string_view>

namespace tutti::core {

/// What a collective makes of the elements that it adds up. A mean is a sum that is divided when it is complete.
enum class Reduction { kSum, kMean, kMin, kMax, kProduct };

/// "sum", "mean", "min", "max", "prod".
std::string_view to_string(Reduction reduction);

}  // namespace tutti::core
