#include "core/explore/kriging.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"

namespace tutti::core {
namespace {

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

TEST(Kriging, InterpolatesKnownPointsWithoutUncertainty) {
  std::vector<Kriging::Point> places;
  std::vector<double> values;
  for (int i = 0; i <= 10; ++i) {
    places.push_back({0.1 * i});
    values.push_back(std::sin(0.6 * i));
  }
  Kriging kriging({true});
  kriging.fit(places, values);
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_NEAR(kriging.at(places[i]).mean, values[i], 1e-3);
    EXPECT_LT(kriging.at(places[i]).deviation, 0.02);
  }
  EXPECT_NEAR(kriging.at({0.55}).mean, std::sin(3.3), 0.02);
  EXPECT_GT(kriging.at({3.0}).deviation, 0.1) << "far from all known points";
}

/// Compares the expected improvement with its definition: the mean of max(0, least - f) over the
/// distribution of f, by numerical integration.
TEST(Kriging, ExpectedImprovementMatchesItsDefinition) {
  Kriging kriging({true, false});
  kriging.fit({{0, 0}, {0.5, 0}, {1, 0}, {0.2, 1}, {0.9, 1}}, {1.0, 0.2, 0.8, 0.5, 0.4});
  for (const double x : {0.1, 0.35, 0.7}) {
    const Kriging::Guess guess = kriging.at({x, 1});
    double sum = 0;
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double z = -8 + 16 * (i + 0.5) / kSteps;
      sum += std::max(0.0, 0.3 - (guess.mean + z * guess.deviation)) * std::exp(-z * z / 2) /
             std::sqrt(2 * M_PI) * 16 / kSteps;
    }
    EXPECT_NEAR(kriging.expected_improvement({x, 1}, 0.3), sum, 1e-6);
  }
}

/// For functions drawn from a smooth family, two standard deviations contain the true value about
/// as often as they should.
TEST(Kriging, UncertaintyMatchesTheActualErrors) {
  Random random(5);
  int inside = 0, all = 0;
  for (int draw = 0; draw < 60; ++draw) {
    const double a = 4 * uniform(random), b = 6 * uniform(random), c = uniform(random);
    const auto f = [&](double x, double y) { return std::sin(a * x + c) + 0.5 * std::cos(b * y); };
    std::vector<Kriging::Point> places;
    std::vector<double> values;
    for (int i = 0; i < 25; ++i) {
      places.push_back({uniform(random), uniform(random)});
      values.push_back(f(places.back()[0], places.back()[1]));
    }
    Kriging kriging({true, true});
    kriging.fit(places, values);
    for (int i = 0; i < 10; ++i) {
      const double x = uniform(random), y = uniform(random);
      const Kriging::Guess guess = kriging.at({x, y});
      inside += std::abs(f(x, y) - guess.mean) <= 2 * guess.deviation + 0.01 ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(inside, all * 8 / 10);
}

}  // namespace
}  // namespace tutti::core
