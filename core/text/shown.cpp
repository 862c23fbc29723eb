#include "core/text/shown.h"

namespace tutti::core {

std::string as_xml(std::string_view bytes) {
  const std::string text = as_utf8(bytes);
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view rest = std::string_view(text).substr(i);
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r')
      safe += kUnknown;
    else if (rest.starts_with("\uFFFE") || rest.starts_with("\uFFFF"))
      safe += kUnknown, i += 2;
    else
      safe += c;
  }
  return safe;
}

}  // namespace tutti::core
