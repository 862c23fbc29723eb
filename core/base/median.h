#pragma once

#include <vector>

namespace tutti::core {

/// Returns the median; for an even number of values, the mean of the middle two. Cost: linear.
/// REQUIRES: `values` is not empty.
double median(std::vector<double> values);

}  // namespace tutti::core
