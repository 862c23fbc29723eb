#include "core/strategy/noise.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/check.h"
#include "core/base/random.h"

namespace tutti::core {
namespace {

/// The values 2^62 · 2^(2^-k) for k = 1 … 32.
constexpr std::array<std::uint64_t, 32> kRoots{
    6521908912666391106u, 5484249825272419512u, 5029079263719320435u, 4815862801830788490u,
    4712668792719003884u, 4661903986662671290u, 4636727017470743990u, 4624189567668517720u,
    4617933561212708776u, 4614808732577250068u, 4613247111281068008u, 4612466498810092975u,
    4612076242109103707u, 4611881126141011236u, 4611783571252412754u, 4611734794581956353u,
    4611710406440186476u, 4611698212417665819u, 4611692115418496524u, 4611689066921934630u,
    4611687542674409371u, 4611686780550835664u, 4611686399489096040u, 4611686208958238036u,
    4611686113692811986u, 4611686066060099699u, 4611686042243743740u, 4611686030335565807u,
    4611686024381476851u, 4611686021404432377u, 4611686019915910140u, 4611686019171649022u,
};

constexpr std::uint64_t kLn2 = 2'977'044'472u;  ///< 2^32 · ln 2

/// Returns a random number from 1 … 2^64 - 1 with a uniform distribution. The number depends only
/// on the arguments.
std::uint64_t draw(std::uint64_t seed, std::int64_t replica, std::int32_t step) {
  // After three rounds of the generator, numbers for neighbouring seeds, replicas or steps are
  // unrelated.
  Random by_seed(seed ^ 0x6e6f697365u);  // differs from the jitter of the same seed
  Random by_replica(by_seed.next() ^ static_cast<std::uint64_t>(replica));
  Random by_step(by_replica.next() ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(step)));
  return std::max<std::uint64_t>(1, by_step.next());
}

/// Returns a sample of a Pareto distribution with the given mean and index: least · (u / 2^64)^(-1
/// / index), where least = mean (index - 1) / index.
std::uint64_t pareto(std::uint64_t mean, std::uint64_t index_milli, std::uint64_t u) {
  const std::uint64_t bits = (std::uint64_t{64} << 32) - log2_fixed(u);
  const std::uint64_t times =
      exp2_fixed(static_cast<std::uint64_t>(static_cast<Wide>(bits) * 1'000 / index_milli));
  const Wide least = static_cast<Wide>(mean) * (index_milli - 1'000) / index_milli;
  const Wide most = static_cast<Wide>(kMaxNoisy) * 1'000'000;
  return static_cast<std::uint64_t>(std::min(most, least * times >> 16));
}

/// Returns mean / probability with the given probability, and otherwise 0.
std::uint64_t bernoulli(std::uint64_t mean, std::uint64_t probability_ppm, std::uint64_t u) {
  const bool hit =
      static_cast<std::uint64_t>(static_cast<Wide>(u) * 1'000'000 >> 64) < probability_ppm;
  return hit ? static_cast<std::uint64_t>(static_cast<Wide>(mean) * 1'000'000 / probability_ppm)
             : 0;
}

}  // namespace

std::uint64_t exponential(std::uint64_t mean, std::uint64_t u) {
  const std::uint64_t bits = (std::uint64_t{64} << 32) - log2_fixed(u);
  return static_cast<std::uint64_t>(
      static_cast<Wide>(mean) * (static_cast<Wide>(bits) * kLn2 >> 32) >> 32);
}

/// Computes the fraction of the logarithm bit by bit: squaring the mantissa doubles its logarithm,
/// and the next bit is 1 if the square is at least 2.
std::uint64_t log2_fixed(std::uint64_t x) {
  TUTTI_CHECK(x > 0, "the logarithm of 0");
  const auto whole = static_cast<std::uint64_t>(std::bit_width(x)) - 1;
  std::uint64_t mantissa = x << (63 - whole);  // 1 … 2, times 2^63
  std::uint64_t result = whole;
  for (int bit = 0; bit < 32; ++bit) {
    const Wide square = static_cast<Wide>(mantissa) * mantissa;  // 1 … 4, times 2^126
    const bool passes = (square >> 127) != 0;
    mantissa = static_cast<std::uint64_t>(square >> (passes ? 64 : 63));
    result = result << 1 | (passes ? 1u : 0u);
  }
  return result;
}

/// Each bit of the fraction multiplies the result by one of 2^(1/2), 2^(1/4), ….
std::uint64_t exp2_fixed(std::uint64_t e) {
  const std::uint64_t whole = e >> 32;
  if (whole >= 46) return std::uint64_t{1} << 62;
  std::uint64_t product = std::uint64_t{1} << 62;  // 1 … 2, times 2^62
  for (std::size_t k = 0; k < kRoots.size(); ++k) {
    if ((e >> (31 - k) & 1) != 0)
      product = static_cast<std::uint64_t>(static_cast<Wide>(product) * kRoots[k] >> 62);
  }
  return product >> (46 - whole);
}

std::int64_t noisy_pace(const Noise& noise, std::uint64_t seed, std::int64_t replica,
                        std::int32_t step) {
  if (noise.kind == Noise::Kind::kNone || noise.mean_ppm == 0) return 1'000'000;
  const std::uint64_t u = draw(seed, replica, step);
  const auto mean = static_cast<std::uint64_t>(noise.mean_ppm);
  std::uint64_t longer = 0;
  switch (noise.kind) {
    case Noise::Kind::kNone: break;
    case Noise::Kind::kExponential: longer = exponential(mean, u); break;
    case Noise::Kind::kPareto:
      longer = pareto(mean, static_cast<std::uint64_t>(noise.tail_index_milli), u);
      break;
    case Noise::Kind::kBernoulli:
      longer = bernoulli(mean, static_cast<std::uint64_t>(noise.probability_ppm), u);
      break;
  }
  return std::min(kMaxNoisy * 1'000'000, 1'000'000 + static_cast<std::int64_t>(longer));
}

std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica,
                     std::int32_t step) {
  if (jitter_ppm == 0) return 1'000'000;
  Random random(seed ^
                (static_cast<std::uint64_t>(replica) << 32 | static_cast<std::uint32_t>(step)) *
                    0x9e3779b97f4a7c15u);
  return 1'000'000 - jitter_ppm +
         static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * jitter_ppm + 1)));
}

}  // namespace tutti::core
