#include "core/text/in_quotes.h"

namespace tutti::core {

std::string in_quotes(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': made += "\\\""; break;
      case '\\': made += "\\\\"; break;
      case '\n': made += "\\n"; break;
      case '\t': made += "\\t"; break;
      case '\r': made += "\\r"; break;
      default: {
        constexpr const char* kHex = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        // Write \u with four digits, because text format and JSON both accept this escape.
        if (byte < 0x20) {
          made += "\\u00";
          made += kHex[byte >> 4];
          made += kHex[byte & 15];
        } else {
          made += c;
        }
      }
    }
  }
  return made + '"';
}

}  // namespace tutti::core
