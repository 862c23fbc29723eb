#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// Random delays of computation, one per training step and replica. Delays are independent of each
/// other and never negative, and their mean is `mean_ppm`.
///
/// If n replicas wait for the slowest, the expected delay is mean · H_n for exponential delays (H_n
/// = 1 + 1/2 + … + 1/n ≈ ln n), and about mean · n^(1/tail_index) for Pareto delays. For Bernoulli
/// delays, the slowest replica is late by mean / probability, with probability 1 - (1 -
/// probability)^n.
/// SOURCE: Agarwal, Garg, Vishnoi, "The impact of noise on the scaling of collectives: a
/// theoretical approach", HiPC 2005. Lee et al. model the delays measured in cloud workers by a
/// shifted exponential distribution: "Speeding up distributed machine learning using codes", IEEE
/// Transactions on Information Theory 64(3), 2018.
struct Noise {
  enum class Kind : std::uint8_t { kNone, kExponential, kPareto, kBernoulli };
  Kind kind = Kind::kNone;
  std::int64_t mean_ppm = 0;          ///< mean delay relative to the computation, in millionths
  std::int64_t tail_index_milli = 0;  ///< Pareto: the tail index in thousandths, above 1000
  std::int64_t probability_ppm = 0;   ///< Bernoulli: the probability that a step is delayed, in
                                      ///< millionths

  bool operator==(const Noise&) const = default;
};

/// The maximum ratio of a step's computation time to its nominal time. The tail of the distribution
/// is cut off at this maximum ratio.
inline constexpr std::int64_t kMaxNoisy = 1'000;

/// Returns a replica's computation time in a training step with noise, in millionths of the nominal
/// time: at least 1'000'000. The result depends only on the arguments, not on the order of events.
/// The time is computed with integers, so that it is equal on all machines.
std::int64_t noisy_pace(const Noise& noise, std::uint64_t seed, std::int64_t replica,
                        std::int32_t step);

/// Returns mean · -ln(u / 2^64): exponentially distributed if u is uniform over 1 … 2^64 - 1.
/// REQUIRES: u > 0, mean < 2^63.
std::uint64_t exponential(std::uint64_t mean, std::uint64_t u);
/// Returns 2^32 · log2(x), rounded down. REQUIRES: x > 0.
std::uint64_t log2_fixed(std::uint64_t x);
/// Returns 2^16 · 2^(e / 2^32), at most 2^62.
std::uint64_t exp2_fixed(std::uint64_t e);

/// Returns a replica's computation time in a training step with jitter, in millionths of the
/// nominal time: uniformly distributed within 1'000'000 ± `jitter_ppm`. The result depends only on
/// the arguments.
std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica,
                     std::int32_t step);

}  // namespace tutti::core
