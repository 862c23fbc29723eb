#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// Returns the median of the values; for an even number of values, the mean of the two middle
/// values. Cost: linear. REQUIRES: `values` is not empty.
double median(std::vector<double> values);

/// Returns the value at index size / 2 of the sorted values; 0 if there are no values. Cost:
/// linear.
std::int64_t upper_median(std::vector<std::int64_t> values);

}  // namespace tutti::core
