#pragma once

#include <string_view>

namespace tutti::core {

/// The reduction operation of a collective. For a mean, the schedule computes the sum and then
/// divides it by the number of replicas.
enum class Reduction { kSum, kMean, kMin, kMax, kProduct };

/// Returns "sum", "mean", "min", "max" or "prod".
std::string_view to_string(Reduction reduction);

}  // namespace tutti::core
