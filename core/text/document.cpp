#include "core/text/document.h"

namespace tutti::core {

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kMessage: return "a message { … }";
    case Value::Kind::kList: return "a list [ … ]";
    case Value::Kind::kString: return "\"" + value.text + "\"";
    case Value::Kind::kNumber:
    case Value::Kind::kIdentifier: return value.text;
  }
  return value.text;
}

Document parse_document(std::string_view text, const std::string& file, Problems& problems) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? parse_json(text, file, problems) : parse_text_format(text, file, problems);
}

}  // namespace tutti::core
