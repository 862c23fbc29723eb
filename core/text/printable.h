#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::core {

enum class LineBreaks { kBecomeSpaces, kStay };

/// Makes a text from an untrusted source (another process or a file) safe to print on a terminal.
/// Bytes that are not UTF-8, control characters (which includes all escape sequences) and
/// characters that change the direction of writing are replaced by '?'.
std::string printable(std::string_view text, LineBreaks breaks = LineBreaks::kBecomeSpaces);

/// Returns the text, truncated to at most `most` bytes if it is longer. A truncated text ends with
/// "…", which is included in the `most` bytes. REQUIRES: the text is UTF-8; most ≥ 3.
std::string shortened(std::string text, std::size_t most);

}  // namespace tutti::core
