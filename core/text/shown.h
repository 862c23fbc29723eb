#pragma once

// Escaping of users' texts (names of files, variables and machines) for the file formats of other
// programs.

#include <string>
#include <string_view>

#include "core/text/utf8.h"

namespace tutti::core {

/// U+FFFD, the Unicode replacement character.
inline constexpr std::string_view kUnknown = "\uFFFD";

/// Replaces each byte that is not part of a valid UTF-8 character by kUnknown. File names may
/// contain such bytes, but exported files must not.
inline std::string as_utf8(std::string_view text) {
  std::string safe;
  for (;;) {
    const std::size_t whole = valid_utf8(text);
    safe += text.substr(0, whole);
    if (whole == text.size()) return safe;
    safe += kUnknown;
    text.remove_prefix(whole + 1);
  }
}

/// Escapes `text` for XML or HTML, between tags or inside a double-quoted attribute. Characters
/// that XML 1.0 does not allow are replaced by kUnknown. These are U+FFFE, U+FFFF and the
/// characters below U+0020 except tab, line feed and carriage return.
std::string as_xml(std::string_view text);

}  // namespace tutti::core
