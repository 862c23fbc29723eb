#pragma once

#include <vector>

namespace tutti::core {

/// Returns the median of the values; for an even number of values, the mean of the two middle
/// values. Cost: linear. REQUIRES: `values` is not empty.
double median(std::vector<double> values);

}  // namespace tutti::core
