#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// Returns the CRC-32C (Castagnoli) of the bytes: detects every error of up to 32 adjacent bits,
/// and of up to five bits anywhere in a block of a timeline; protects against no forgery. SOURCE:
/// RFC 3720, appendix B.4 (with test vectors).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace tutti::core
