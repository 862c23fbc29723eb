#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// The SplitMix64 random number generator. The numbers are the same on every platform. Two seeds
/// give statistically independent sequences, even if the seeds differ in only one bit. SOURCE:
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Returns a uniformly distributed number from 0 … n - 1. REQUIRES: n > 0.
  std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>(static_cast<Wide>(next()) * n >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tutti::core
