#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tutti::core {

/// The 64-bit FNV-1a hash, which detects accidental differences, but does not protect against
/// forgery.
class Fnv {
 public:
  void byte(std::uint8_t value) { state_ = (state_ ^ value) * 0x100000001b3u; }
  void bytes(std::string_view text) {
    for (const char c : text) byte(static_cast<std::uint8_t>(c));
  }
  /// Adds the bytes to the hash in words of eight bytes; a shorter last word is filled with zeros.
  /// For large buffers, words() is several times as fast as bytes(). The two functions give
  /// different hashes.
  void words(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      state_ = (state_ ^ word) * 0x100000001b3u;
      // Without the following shift, the upper bits of a word would affect only the upper bits of
      // the hash.
      state_ ^= state_ >> 32;
    }
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace tutti::core
