#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// The 64-bit FNV-1a hash: detects differences, but does not protect against forgery.
class Fnv {
 public:
  void byte(std::uint8_t value) { state_ = (state_ ^ value) * 0x100000001b3u; }
  void bytes(std::string_view text) {
    for (const char c : text) byte(static_cast<std::uint8_t>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace tutti::core
