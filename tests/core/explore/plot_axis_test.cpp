#include "core/explore/plot_axis.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

TEST(PlotAxis, LogarithmicAxesPlaceEqualFactorsAtEqualDistances) {
  const PlotAxis axis =
      PlotAxis::of_values({"1024", "2048", "4096", "", "0", "1048576"}, true, Scale::kAuto);
  EXPECT_TRUE(axis.logarithmic());
  EXPECT_NEAR(axis.place(1) - axis.place(0), axis.place(2) - axis.place(1), 1e-12);
  EXPECT_LT(axis.place(3), axis.place(0)) << "unset values and 0 have their own positions";
  EXPECT_LT(axis.place(4), axis.place(0));
  EXPECT_NE(axis.place(3), axis.place(4));
  const PlotAxis names = PlotAxis::of_values({"ring", "nccl", "3"}, false, Scale::kLogarithmic);
  EXPECT_FALSE(names.logarithmic());
  EXPECT_LT(names.place(0), names.place(1));
  EXPECT_EQ(names.ticks().size(), 3u);
  const PlotAxis linear = PlotAxis::of_values({"1", "2", "9000"}, false, Scale::kLinear);
  EXPECT_NEAR((linear.place(1) - linear.place(0)) * 8999, linear.place(2) - linear.place(0), 1e-9);
}

TEST(PlotAxis, TicksAreInsideTheAxisAtTheirValues) {
  for (const Scale scale : {Scale::kAuto, Scale::kLinear, Scale::kLogarithmic}) {
    for (const double low : {0.001, 1.0, 37.0, 1e6}) {
      for (const double factor : {1.0, 1.01, 2.0, 11.0, 13.0, 1e5}) {
        const PlotAxis axis = PlotAxis::of_costs(low, low * factor, scale);
        EXPECT_GE(axis.ticks().size(), 2u) << low << " * " << factor;
        for (const PlotAxis::Tick& tick : axis.ticks()) {
          EXPECT_GE(tick.at, -1e-9);
          EXPECT_LE(tick.at, 1 + 1e-9);
          EXPECT_NEAR(axis.at(std::stod(tick.text)), tick.at, 1e-4) << tick.text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::core
