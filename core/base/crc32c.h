#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// Returns the CRC-32C (Castagnoli) of the bytes. The checksum detects every error that affects at
/// most 32 consecutive bits, and every error of at most five flipped bits in a block of a timeline.
/// It does not protect against forgery.
/// SOURCE: RFC 3720, appendix B.4 (with test vectors).
std::uint32_t crc32c(std::string_view bytes);

/// Returns the same checksum as crc32c() without the processor's CRC instructions. This function is
/// used in tests and on processors without CRC instructions.
std::uint32_t crc32c_by_tables(std::string_view bytes);

}  // namespace tutti::core
