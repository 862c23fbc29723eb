#include "core/strategy/noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMean = 20'000;  // 2 %
constexpr std::int32_t kSteps = 4'000;

Noise noise(Noise::Kind kind) {
  Noise n;
  n.kind = kind;
  n.mean_ppm = kMean;
  n.tail_index_milli = 3'000;
  n.probability_ppm = 50'000;
  return n;
}

TEST(FixedPoint, LogarithmAndPowerMatchTheStandardLibrary) {
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t x = random.next() >> random.below(64);
    if (x == 0) continue;
    EXPECT_NEAR(static_cast<double>(log2_fixed(x)) / 4294967296.0,
                static_cast<double>(std::log2(static_cast<long double>(x))), 3e-10)
        << x;
    const std::uint64_t e = random.next() >> (19 + random.below(30));
    const long double expected = 65536.0L * std::exp2(static_cast<long double>(e) / 4294967296.0L);
    EXPECT_NEAR(static_cast<double>(exp2_fixed(e)),
                static_cast<double>(std::min(expected, 0x1p62L)),
                1 + 1e-9 * static_cast<double>(expected))
        << e;
  }
  EXPECT_EQ(log2_fixed(1), 0u);
  EXPECT_EQ(log2_fixed(std::uint64_t{1} << 63), std::uint64_t{63} << 32);
  EXPECT_EQ(exp2_fixed(0), 65'536u);
  EXPECT_EQ(exp2_fixed(~std::uint64_t{0}), std::uint64_t{1} << 62) << "no further";
}

TEST(Noise, IsOffWithoutKindOrMean) {
  EXPECT_EQ(noisy_pace({}, 1, 2, 3), 1'000'000);
  Noise none = noise(Noise::Kind::kExponential);
  none.mean_ppm = 0;
  EXPECT_EQ(noisy_pace(none, 1, 2, 3), 1'000'000);
}

TEST(Noise, SlowsComputationByTheMeanAndNeverSpeedsItUp) {
  for (const Noise::Kind kind :
       {Noise::Kind::kExponential, Noise::Kind::kPareto, Noise::Kind::kBernoulli}) {
    double sum = 0;
    for (std::int64_t replica = 0; replica < 50; ++replica) {
      for (std::int32_t step = 0; step < kSteps; ++step) {
        const std::int64_t pace = noisy_pace(noise(kind), 9, replica, step);
        ASSERT_GE(pace, 1'000'000);
        sum += static_cast<double>(pace - 1'000'000);
      }
    }
    EXPECT_NEAR(sum / (50.0 * kSteps), static_cast<double>(kMean), 0.02 * kMean)
        << static_cast<int>(kind);
  }
}

/// Returns how late the last of n replicas is, on average.
double last_of(const Noise& n, std::int64_t replicas) {
  double sum = 0;
  for (std::int32_t step = 0; step < kSteps; ++step) {
    std::int64_t last = 0;
    for (std::int64_t r = 0; r < replicas; ++r)
      last = std::max(last, noisy_pace(n, 77, r, step) - 1'000'000);
    sum += static_cast<double>(last);
  }
  return sum / kSteps;
}

/// According to Agarwal, Garg and Vishnoi, the delay of the slowest replica grows with the
/// logarithm, or with a power, of the number of replicas.
TEST(Noise, TheDelayOfTheSlowestReplicaMatchesTheory) {
  for (const std::int64_t n : {1, 2, 8, 64, 256}) {
    double harmonic = 0;
    for (std::int64_t i = 1; i <= n; ++i) harmonic += 1.0 / static_cast<double>(i);
    EXPECT_NEAR(last_of(noise(Noise::Kind::kExponential), n) / (kMean * harmonic), 1, 0.04) << n;

    // The largest of n Pareto draws has the mean least · Γ(n + 1) Γ(1 - 1/a) / Γ(n + 1 - 1/a),
    // where least = mean (a - 1) / a.
    const double a = 3;
    const auto count = static_cast<double>(n);
    const double largest =
        std::exp(std::lgamma(count + 1) + std::lgamma(1 - 1 / a) - std::lgamma(count + 1 - 1 / a));
    EXPECT_NEAR(last_of(noise(Noise::Kind::kPareto), n) / (kMean * (a - 1) / a * largest), 1, 0.06)
        << n;

    const double hit = 1 - std::pow(0.95, count);
    EXPECT_NEAR(last_of(noise(Noise::Kind::kBernoulli), n) / (kMean / 0.05 * hit), 1,
                n == 1 ? 0.2 : 0.08)
        << n;
  }
}

TEST(Noise, IsIndependentBetweenReplicasAndSteps) {
  const Noise n = noise(Noise::Kind::kBernoulli);  // counts how often neighbours are hit together
  const auto hit = [&](std::uint64_t seed, std::int64_t replica, std::int32_t step) {
    return noisy_pace(n, seed, replica, step) > 1'000'000 ? 1 : 0;
  };
  int both_steps = 0, both_replicas = 0, both_seeds = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const int r = i % 500, s = i / 500;
    both_steps += hit(1, r, s) * hit(1, r, s + 1);
    both_replicas += hit(1, r, s) * hit(1, r + 1, s);
    both_seeds += hit(1, r, s) * hit(2, r, s);
  }
  const double expected = kDraws * 0.05 * 0.05;
  for (const int both : {both_steps, both_replicas, both_seeds})
    EXPECT_NEAR(both, expected, 5 * std::sqrt(expected));
}

TEST(Noise, IsTheSameOnEveryPlatform) {
  EXPECT_EQ(noisy_pace(noise(Noise::Kind::kExponential), 42, 7, 3), 1'020'269);
  EXPECT_EQ(noisy_pace(noise(Noise::Kind::kPareto), 42, 7, 3), 1'018'691);
}

TEST(Noise, IsBounded) {
  Noise wild = noise(Noise::Kind::kPareto);
  wild.mean_ppm = 10'000'000;
  wild.tail_index_milli = 1'010;
  for (std::int32_t step = 0; step < 100'000; ++step)
    ASSERT_LE(noisy_pace(wild, 1, 0, step), kMaxNoisy * 1'000'000);
}

}  // namespace
}  // namespace tutti::core
