#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// The distribution of random delays of computation. There is one delay per training step and
/// replica. Delays are independent and never negative, and their mean is `mean_ppm`.
///
/// If n replicas wait for the slowest of them, the expected delay depends on the distribution. For
/// exponential delays, the expected delay is mean · H_n (H_n = 1 + 1/2 + … + 1/n ≈ ln n); for
/// Pareto delays, it is about mean · n^(1/tail_index). For Bernoulli delays, the delay is mean /
/// probability with probability 1 - (1 - probability)^n, and otherwise 0.
/// SOURCE: Agarwal, Garg, Vishnoi, "The impact of noise on the scaling of collectives: a
/// theoretical approach", HiPC 2005. Lee et al. describe measured delays of cloud workers by a
/// shifted exponential distribution: "Speeding up distributed machine learning using codes", IEEE
/// Transactions on Information Theory 64(3), 2018.
struct Noise {
  enum class Kind : std::uint8_t { kNone, kExponential, kPareto, kBernoulli };
  Kind kind = Kind::kNone;
  std::int64_t mean_ppm = 0;          ///< mean delay as a fraction of the computation time, in
                                      ///< millionths
  std::int64_t tail_index_milli = 0;  ///< for Pareto: the tail index in thousandths, above 1000
  std::int64_t probability_ppm = 0;   ///< for Bernoulli: the probability of a delay in a step, in
                                      ///< millionths

  bool operator==(const Noise&) const = default;
};

/// The maximum of a step's computation time, as a multiple of its nominal time. Larger values of
/// the distribution are reduced to kMaxNoisy.
inline constexpr std::int64_t kMaxNoisy = 1'000;

/// Returns the computation time of a replica in a training step, including the random delay, in
/// millionths of the nominal time; at least 1'000'000. The time depends only on the arguments, not
/// on the order of events. The time is computed with integers, so all machines get the same result.
std::int64_t noisy_pace(const Noise& noise, std::uint64_t seed, std::int64_t replica,
                        std::int32_t step);

/// Returns mean · -ln(u / 2^64). If u is uniform over 1 … 2^64 - 1, the result has an exponential
/// distribution.
/// REQUIRES: u > 0, mean < 2^63.
std::uint64_t exponential(std::uint64_t mean, std::uint64_t u);
/// Returns 2^32 · log2(x), rounded down. REQUIRES: x > 0.
std::uint64_t log2_fixed(std::uint64_t x);
/// Returns 2^16 · 2^(e / 2^32), at most 2^62.
std::uint64_t exp2_fixed(std::uint64_t e);

/// Returns the computation time of a replica in a training step with jitter, in millionths of the
/// nominal time. The time is uniformly distributed within 1'000'000 ± `jitter_ppm`. The time
/// depends only on the arguments.
std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica,
                     std::int32_t step);

}  // namespace tutti::core
