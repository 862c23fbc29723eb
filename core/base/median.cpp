#include "core/base/median.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"

namespace tutti::core {

double median(std::vector<double> values) {
  TUTTI_CHECK(!values.empty(), "nothing has no middle");
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::int64_t upper_median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tutti::core
