#include "core/base/median.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace tutti::core {
namespace {

TEST(Median, IsTheMiddleOfTheSortedValues) {
  Random random(7);
  for (std::size_t n = 1; n <= 60; ++n) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<double>(random.below(20)));
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(median(values), (sorted[(n - 1) / 2] + sorted[n / 2]) / 2) << n;
  }
}

}  // namespace
}  // namespace tutti::core
