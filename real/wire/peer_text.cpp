#include "real/wire/peer_text.h"

#include <algorithm>

namespace tutti::real {

std::string peer_text(std::string_view text, std::size_t longest, core::LineBreaks breaks) {
  // Text beyond the limit is cut off, so check only one byte more than the limit. This byte shows
  // that the text is longer.
  return core::shortened(core::printable(text.substr(0, longest + 1), breaks), longest);
}

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestHostName &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

}  // namespace tutti::real
