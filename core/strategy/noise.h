#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// Random delays of computation, per step and replica: never negative, on average `mean`, and
/// independent of each other.
///
/// The effect of these three kinds on collectives is known: when n replicas wait for the last of
/// them, it is late by mean · H_n (exponential; H_n = 1 + 1/2 + … + 1/n ≈ ln n), by about mean ·
/// n^(1/tail_index) (Pareto), or by mean / probability with probability 1 - (1 - probability)^n
/// (Bernoulli).
/// SOURCE: Agarwal, Garg, Vishnoi, "The impact of noise on the scaling of collectives: a
/// theoretical approach", HiPC 2005. Measured straggling of cloud workers is modelled as a shifted
/// exponential in Lee et al., "Speeding up distributed machine learning using codes", IEEE Trans.
/// Inf. Theory 64(3), 2018.
struct Noise {
  enum class Kind : std::uint8_t { kNone, kExponential, kPareto, kBernoulli };
  Kind kind = Kind::kNone;
  std::int64_t mean_ppm = 0;          ///< mean delay relative to the computation, in millionths
  std::int64_t tail_index_milli = 0;  ///< Pareto: the tail index in thousandths, above 1000
  std::int64_t probability_ppm = 0;   ///< Bernoulli: the probability that a step is delayed, in
                                      ///< millionths

  bool operator==(const Noise&) const = default;
};

/// The maximum ratio of a step's computation to its nominal time; the tail of the distribution is
/// cut off there.
inline constexpr std::int64_t kMaxNoisy = 1'000;

/// Returns the time that a replica computes in a step, in millionths of the nominal time: 1'000'000
/// and more. It depends only on seed, replica and step, so not on the order of events, and is
/// computed with integers, so it is equal on all machines.
std::int64_t noisy_pace(const Noise& noise, std::uint64_t seed, std::int64_t replica,
                        std::int32_t step);

/// Returns mean · -ln(u / 2^64): exponentially distributed if u is uniform over 1 … 2^64 - 1.
/// REQUIRES: u > 0, mean < 2^63.
std::uint64_t exponential(std::uint64_t mean, std::uint64_t u);
/// Returns 2^32 · log2(x), rounded down. REQUIRES: x > 0.
std::uint64_t log2_fixed(std::uint64_t x);
/// Returns 2^16 · 2^(e / 2^32), at most 2^62.
std::uint64_t exp2_fixed(std::uint64_t e);

/// Returns the time that a replica computes in a step, in millionths of the nominal time: uniformly
/// distributed within ± `jitter_ppm`. A pure function of its arguments.
std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica,
                     std::int32_t step);

}  // namespace tutti::core
