#pragma once

// Escapes text from outside (names of files, variables, machines) for the file formats of other
// programs.

#include <string>
#include <string_view>

#include "core/text/utf8.h"

namespace tutti::core {

/// U+FFFD, the replacement character for what cannot be shown.
inline constexpr std::string_view kUnknown = "\uFFFD";

/// Returns `text` with kUnknown in place of each byte that is not UTF-8: file names may hold any
/// bytes, exports may not.
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

/// Returns `text` escaped for XML or HTML, between tags or inside a double-quoted attribute. XML
/// 1.0 allows only three control characters, and neither U+FFFE nor U+FFFF; the others become
/// kUnknown.
std::string as_xml(std::string_view text);

}  // namespace tutti::core
