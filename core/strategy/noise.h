#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// By how much computation takes longer than stated, in one step on one replica: never less, on average `mean`, all
/// independent of each other.
///
/// These three kinds are those whose effect on collectives is known: when n replicas wait for the last of them, it is
/// late by mean · H_n (exponential; H_n = 1 + 1/2 + … + 1/n ≈ ln n), by about mean · n^(1/tail_index) (Pareto), or by
/// mean / probability with a chance of 1 - (1 - probability)^n (Bernoulli).
/// SOURCE: Agarwal, Garg, Vishnoi, "The impact of noise on the scaling of collectives: a theoretical approach", HiPC
/// 2005. Measured straggling of cloud workers is modelled as a shifted exponential in Lee et al., "Speeding up distributed
/// machine learning using codes", IEEE Trans. Inf. Theory 64(3), 2018.
struct Noise {
  enum class Kind : std::uint8_t { kNone, kExponential, kPareto, kBernoulli };
  Kind kind = Kind::kNone;
  std::int64_t mean_ppm = 0;          ///< of the computation
  std::int64_t tail_index_milli = 0;  ///< Pareto: in thousandths, above 1000
  std::int64_t probability_ppm = 0;   ///< Bernoulli: of a step to be hit

  bool operator==(const Noise&) const = default;
};

/// No step computes longer than this many times what is stated: what a tail gives beyond is cut off.
inline constexpr std::int64_t kMostNoisy = 1'000;

/// How long a replica computes in a step, in millionths of what is stated: 1'000'000 and more. Told by seed,
/// replica and step alone, so nothing depends on the order of events; with integers alone, so on no machine either.
std::int64_t noisy_pace(const Noise& noise, std::uint64_t seed, std::int64_t replica, std::int32_t step);

/// mean · -ln(u / 2^64): exponentially distributed if u is even over 1 … 2^64 - 1. REQUIRES: u > 0, mean < 2^63.
std::uint64_t exponential(std::uint64_t mean, std::uint64_t u);
/// 2^32 · log2(x), rounded down to a multiple of 1. REQUIRES: x > 0.
std::uint64_t log2_fixed(std::uint64_t x);
/// 2^16 · 2^(e / 2^32), at most 2^62.
std::uint64_t exp2_fixed(std::uint64_t e);

/// Returns how much slower or faster than stated a replica computes in a step, in millionths: evenly distributed within
/// ± `jitter_ppm`. A pure function of its arguments.
std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica, std::int32_t step);

}  // namespace tutti::core
