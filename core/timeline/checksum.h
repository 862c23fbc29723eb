#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/crc32c.h"

namespace tutti::core {

// The checksum at the end of each block of a timeline: the field `crc32c` of proto::Block. The
// field is appended to the serialized message, and covers all bytes of the message before it.

/// The key of the field: field number 15 and the wire type for four bytes.
inline constexpr char kChecksumKey = 15 << 3 | 5;
inline constexpr std::size_t kChecksumBytes = 1 + 4;

/// Appends the checksum to a serialized block that has none.
inline void append_checksum(std::string& block) {
  const std::uint32_t crc = crc32c(block);
  block += kChecksumKey;
  for (int shift = 0; shift < 32; shift += 8) block += static_cast<char>(crc >> shift & 0xff);
}

/// True if the serialized block ends with its correct checksum.
inline bool has_right_checksum(std::string_view block) {
  if (block.size() <= kChecksumBytes) return false;
  const std::string_view end = block.substr(block.size() - kChecksumBytes);
  std::uint32_t stated = 0;
  for (std::size_t i = 0; i < 4; ++i)
    stated |= std::uint32_t{static_cast<unsigned char>(end[i + 1])} << (8 * i);
  return end[0] == kChecksumKey && stated == crc32c(block.substr(0, block.size() - kChecksumBytes));
}

}  // namespace tutti::core
