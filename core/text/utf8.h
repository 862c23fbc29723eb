#pragma once

#include <cstddef>
#include <string_view>

namespace tutti::core {

/// Returns the number of leading bytes of `text` that are valid UTF-8; text.size() if all bytes are
/// valid. Surrogates, overlong encodings and characters beyond U+10FFFF are invalid (RFC 3629,
/// section 4).
inline std::size_t valid_utf8(std::string_view text) {
  std::size_t at = 0;
  const auto byte = [&](std::size_t ahead) -> unsigned {
    return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0;
  };
  const std::size_t size = text.size();
  for (;;) {
    while (at < size && static_cast<signed char>(text[at]) >= 0) ++at;  // ASCII
    if (at == size) return at;
    const unsigned first = byte(0);
    std::size_t length = 1;
    unsigned least = 0x80, most = 0xBF;  // range of the second byte
    if (first >= 0xC2 && first <= 0xDF) {
      length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
      length = 3;
      if (first == 0xE0) least = 0xA0;
      if (first == 0xED) most = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
      length = 4;
      if (first == 0xF0) least = 0x90;
      if (first == 0xF4) most = 0x8F;
    } else {
      return at;
    }
    if (byte(1) < least || byte(1) > most) return at;
    for (std::size_t i = 2; i < length; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return at;
    }
    at += length;
  }
}

}  // namespace tutti::core
