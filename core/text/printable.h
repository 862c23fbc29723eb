#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::core {

enum class LineBreaks { kBecomeSpaces, kStay };

/// Returns a text from outside (another process, a file) in a form that is safe to print on a
/// terminal: bytes that are not UTF-8, control characters (with them every escape sequence of a
/// terminal) and characters that change the direction of writing become '?'.
std::string printable(std::string_view text, LineBreaks breaks = LineBreaks::kBecomeSpaces);

/// Returns the text, or as many of its characters as fit into `most` bytes with "…" behind them.
/// REQUIRES: UTF-8; most ≥ 3.
std::string shortened(std::string text, std::size_t most);

}  // namespace tutti::core
