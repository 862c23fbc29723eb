#pragma once

#include <vector>

namespace tutti::core {

/// Returns the median; of an even number of values, the mean of the middle two. Cost: linear.
/// REQUIRES: not empty.
double median(std::vector<double> values);

}  // namespace tutti::core
