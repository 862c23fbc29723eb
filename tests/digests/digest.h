#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tutti::test {

/// A 64-bit hash of a sequence of integers and texts, equal for all compilers and byte orders. It
/// detects accidental changes, but is not collision-resistant.
class Digest {
 public:
  void add(std::int64_t value) {
    // SOURCE: the output function of SplitMix64 (core/base/random.h).
    std::uint64_t z = (state_ ^ static_cast<std::uint64_t>(value)) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    state_ = z ^ (z >> 31);
  }
  /// Adds the length, and then the characters as integers of eight characters each, the first in
  /// the lowest byte.
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = at; i < text.size() && i < at + 8; ++i)
        word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i - at));
      add(static_cast<std::int64_t>(word));
    }
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }
  /// Returns the hash as sixteen hexadecimal digits.
  [[nodiscard]] std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace tutti::test
