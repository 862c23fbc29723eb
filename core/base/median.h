#pragma once

#include <vector>

namespace tutti::core {

/// The middle of values in order; of an even number of them the mean of the two in the middle. Cost: linear. REQUIRES: there are some.
double median(std::vector<double> values);

}  // namespace tutti::core
