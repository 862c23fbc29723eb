#pragma once

// Text of others (names of files, variables, machines) as files of other programs may hold it.

#include <string>
#include <string_view>

#include "core/text/utf8.h"

namespace tutti::core {

/// U+FFFD, which stands for what cannot be shown.
inline constexpr std::string_view kUnknown = "\uFFFD";

/// `text` with kUnknown for each byte that is not UTF-8: names of files may be anything, exports may not.
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

/// `text` between the tags of XML or HTML, or as the value of an attribute in double quotes. XML 1.0 knows three control characters,
/// and has no U+FFFE and U+FFFF; these are shown as kUnknown.
std::string as_xml(std::string_view text);

}  // namespace tutti::core
