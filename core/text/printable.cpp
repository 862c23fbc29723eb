#include "core/text/printable.h"

#include <algorithm>
#include <array>

#include "core/text/utf8.h"

namespace tutti::core {
namespace {

/// True for multi-byte characters that may mislead a terminal or a reader: C1 controls, line and
/// paragraph separators, and overrides of the writing direction.
bool misleads(std::string_view character) {
  if (character.size() == 2 && character[0] == '\xC2')
    return static_cast<unsigned char>(character[1]) < 0xA0;
  constexpr std::array<std::string_view, 14> kMisleading = {
      "\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B",
      "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"};
  return std::find(kMisleading.begin(), kMisleading.end(), character) != kMisleading.end();
}

/// Returns the length of the first character in bytes; 0 if the text does not begin with valid
/// UTF-8.
std::size_t first_character(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size()); ++length) {
    if (valid_utf8(text.substr(0, length)) == length) return length;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text, LineBreaks breaks) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = first_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const auto byte = static_cast<unsigned char>(character[0]);
    if (character == "\t" || (character == "\n" && breaks == LineBreaks::kBecomeSpaces)) {
      shown += ' ';
    } else if (character == "\n") {
      shown += '\n';
    } else if (length == 0 || byte < 0x20 || byte == 0x7F || misleads(character)) {
      shown += '?';
    } else {
      shown += character;
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

std::string shortened(std::string text, std::size_t most) {
  constexpr std::string_view kMore = "…";
  if (text.size() <= most) return text;
  std::size_t length = most - kMore.size();
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  text.resize(length);
  return text.append(kMore);
}

}  // namespace tutti::core
