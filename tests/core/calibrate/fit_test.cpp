// The least-squares fit, on models that are small enough to compute the parameters by hand. The
// tests check values, confidence intervals, outliers, bounds, and parameters that the data cannot
// determine.

#include "core/calibrate/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/calibrate/determined.h"

namespace tutti::core {
namespace {

/// Returns the sum of twelve numbers, uniform in -1 … 1. The sum is approximately normal with
/// standard deviation 2.
double gaussian(Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(2'000'001)) / 1e6 - 1;
  return sum / 2;
}

std::vector<double> sizes() {
  std::vector<double> all;
  for (double bytes = 1024; bytes < 3e8; bytes *= 2) all.push_back(bytes);
  return all;
}

/// Returns the microseconds of a ring over 4 ranks: 6 latencies, and 1.5 times the bytes at the
/// link's rate.
double ring(double log_us, double log_gb_per_s, double bytes) {
  return 6 * std::exp(log_us) + 1.5 * bytes / std::exp(log_gb_per_s) / 1e3;
}

FitProblem::Unknown unknown(double start, int family) {
  FitProblem::Unknown result;
  result.start = start;
  result.least = start - 9;
  result.most = start + 9;
  result.family = family;
  return result;
}

/// Returns the problem of fitting the latency and the bandwidth of a ring to measured times.
FitProblem ring_problem(double start_us, double start_gb_per_s,
                        const std::vector<double>& measured) {
  FitProblem problem;
  problem.unknowns = {unknown(std::log(start_us), 0), unknown(std::log(start_gb_per_s), 1)};
  problem.residuals = measured.size();
  problem.evaluate = [measured](const std::vector<double>& x) {
    std::vector<double> residuals;
    const std::vector<double> all = sizes();
    for (std::size_t i = 0; i < measured.size(); ++i)
      residuals.push_back(std::log(ring(x[0], x[1], all[i]) / measured[i]));
    return std::optional(residuals);
  };
  return problem;
}

std::vector<double> measured(double us, double gb_per_s, double noise, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> times;
  for (const double bytes : sizes())
    times.push_back(ring(std::log(us), std::log(gb_per_s), bytes) *
                    std::exp(noise * gaussian(random) / 2));
  return times;
}

TEST(Fit, ExactTimesReproduceTheParameters) {
  for (const double factor : {1.0, 1.3, 0.5, 30.0, 0.02, 900.0}) {
    const Fit result = fit(ring_problem(5 * factor, 12 / factor, measured(5, 12, 0, 0)));
    EXPECT_EQ(result.unknowns[0].determination, Determination::kDetermined) << factor;
    EXPECT_NEAR(std::exp(result.unknowns[0].value), 5, 5e-4) << factor;
    EXPECT_NEAR(std::exp(result.unknowns[1].value), 12, 1e-3) << factor;
    EXPECT_LT(result.unknowns[1].half_width, 0.01) << factor;
  }
}

TEST(Fit, ConfidenceIntervalsHaveTheStatedCoverage) {
  int covered[2] = {0, 0};
  constexpr int kRuns = 200;
  for (int seed = 0; seed < kRuns; ++seed) {
    const Fit result =
        fit(ring_problem(1, 50, measured(5, 12, 0.1, static_cast<std::uint64_t>(seed))));
    const double truth[2] = {std::log(5.0), std::log(12.0)};
    for (int u = 0; u < 2; ++u) {
      const FittedUnknown& found = result.unknowns[u];
      if (std::abs(found.value - truth[u]) <= found.half_width) ++covered[u];
      EXPECT_LT(found.half_width, 0.2) << "the interval is not too wide";
    }
  }
  // 95 % of 200 runs are 190. Four standard deviations below that are 178.
  EXPECT_GE(covered[0], 178);
  EXPECT_GE(covered[1], 178);
  // An interval that always contains the truth would be too wide.
  EXPECT_LT(covered[0] + covered[1], 2 * kRuns);
}

TEST(Fit, AnOutlierHasLittleEffect) {
  std::vector<double> times = measured(5, 12, 0.02, 3);
  times[10] *= 50;
  const Fit result = fit(ring_problem(1, 50, times));
  EXPECT_NEAR(std::exp(result.unknowns[0].value), 5, 0.3);
  EXPECT_NEAR(std::exp(result.unknowns[1].value), 12, 0.6);
}

TEST(Fit, AParameterWithoutEffectKeepsItsValue) {
  FitProblem problem = ring_problem(1, 50, measured(5, 12, 0.01, 1));
  problem.unknowns.push_back(unknown(3, 1));
  const Fit result = fit(problem);
  EXPECT_EQ(result.unknowns[2].determination, Determination::kInsensitive);
  EXPECT_EQ(result.unknowns[2].value, 3);
  EXPECT_EQ(result.unknowns[1].determination, Determination::kDetermined);
}

TEST(Fit, FitsOneOfTwoInterchangeableParameters) {
  FitProblem problem = ring_problem(1, 50, {});
  const std::vector<double> times = measured(5, 12, 0.01, 1);
  // Two latencies are in series, so only their sum can be determined.
  problem.unknowns.push_back(unknown(std::log(0.5), 0));
  problem.residuals = times.size();
  problem.evaluate = [times](const std::vector<double>& x) {
    std::vector<double> residuals;
    const std::vector<double> all = sizes();
    for (std::size_t i = 0; i < times.size(); ++i)
      residuals.push_back(
          std::log(ring(std::log(std::exp(x[0]) + std::exp(x[2])), x[1], all[i]) / times[i]));
    return std::optional(residuals);
  };
  const Fit result = fit(problem);
  EXPECT_EQ(result.unknowns[0].determination, Determination::kDetermined);
  EXPECT_NEAR(std::exp(result.unknowns[0].value) + 0.5, 5, 0.2);
  EXPECT_EQ(result.unknowns[2].value, std::log(0.5)) << "left exactly";
  EXPECT_NE(result.unknowns[2].determination, Determination::kDetermined);
}

TEST(Fit, ALinkThatIsNotTheBottleneckGetsALowerBound) {
  // Bytes pass two links in series, both of which start with a bandwidth that is too low. Only the
  // narrower one limits the time.
  FitProblem problem;
  problem.unknowns = {unknown(std::log(3), 1), unknown(std::log(6), 1)};
  problem.residuals = 10;
  problem.evaluate = [](const std::vector<double>& x) {
    std::vector<double> residuals;
    for (int i = 0; i < 10; ++i)
      residuals.push_back(std::log(10) - std::min(x[0], x[1]) + (i % 2 == 0 ? 0.01 : -0.01));
    return std::optional(residuals);
  };
  const Fit result = fit(problem);
  std::vector<int> bounded;
  for (int u = 0; u < 2; ++u) {
    EXPECT_NEAR(std::exp(result.unknowns[u].value), 10, 0.8) << u;
    if (result.unknowns[u].determination == Determination::kBounded) bounded.push_back(u);
  }
  EXPECT_EQ(bounded.size(), 1u);
  for (const double residual : result.residuals) EXPECT_LT(std::abs(residual), 0.05);
}

TEST(Fit, KeepsAndReportsUndeterminedUnknowns) {
  FitProblem problem = ring_problem(4, 50, measured(5, 12, 0.01, 1));
  problem.unknowns[0].kept = true;
  const Fit result = fit(problem);
  EXPECT_EQ(result.unknowns[0].determination, Determination::kKept);
  EXPECT_EQ(result.unknowns[0].value, std::log(4.0));
  EXPECT_NEAR(std::exp(result.unknowns[1].value), 12, 1);
}

TEST(Fit, FewTimesDetermineFewParameters) {
  const Fit result = fit(ring_problem(4, 11, {measured(5, 12, 0, 0)[0], measured(5, 12, 0, 0)[1]}));
  int known = 0;
  for (const FittedUnknown& u : result.unknowns)
    known += u.determination == Determination::kDetermined ? 1 : 0;
  EXPECT_LE(known, 1) << "two times leave no degree of freedom for two unknowns";
}

TEST(Fit, VeryNoisyTimesDetermineNothing) {
  std::vector<double> wild = measured(5, 12, 0, 0);
  wild.resize(4);
  wild[0] *= 30;
  wild[1] /= 40;
  wild[3] /= 20;
  const Fit result = fit(ring_problem(4, 11, wild));
  EXPECT_NE(result.unknowns[1].determination, Determination::kDetermined);
  EXPECT_EQ(result.unknowns[1].value, std::log(11.0));
  for (const FittedUnknown& u : result.unknowns) {
    EXPECT_TRUE(u.determination != Determination::kConfounded || u.confounded_with >= 0);
  }
}

TEST(Fit, PointsThatCannotBeComputedAreAvoided) {
  FitProblem problem = ring_problem(5, 13, measured(5, 12, 0.01, 1));
  const auto inner = problem.evaluate;
  problem.evaluate = [inner](const std::vector<double>& x) -> std::optional<std::vector<double>> {
    if (x[1] > std::log(20) || x[0] < std::log(2)) return std::nullopt;
    return inner(x);
  };
  const Fit result = fit(problem);
  EXPECT_NEAR(std::exp(result.unknowns[0].value), 5, 0.3);
  EXPECT_NEAR(std::exp(result.unknowns[1].value), 12, 0.6);
}

TEST(Fit, CanBeStopped) {
  FitProblem problem = ring_problem(1, 50, measured(5, 12, 0.01, 1));
  int calls = 0;
  problem.cancelled = [&calls] { return ++calls > 20; };
  const Fit result = fit(problem);
  EXPECT_TRUE(result.cancelled);
  EXPECT_LT(result.evaluations, 60);
}

TEST(Fit, IsReproducible) {
  const Fit a = fit(ring_problem(1, 50, measured(5, 12, 0.05, 9)));
  const Fit b = fit(ring_problem(1, 50, measured(5, 12, 0.05, 9)));
  EXPECT_EQ(a.unknowns[0].value, b.unknowns[0].value);
  EXPECT_EQ(a.unknowns[1].half_width, b.unknowns[1].half_width);
}

TEST(Fit, StudentsTMatchesPublishedTables) {
  EXPECT_NEAR(student_factor(1), 12.706, 1e-3);
  EXPECT_NEAR(student_factor(10), 2.228, 1e-3);
  EXPECT_NEAR(student_factor(1000), 1.962, 1e-3);
}

}  // namespace
}  // namespace tutti::core
