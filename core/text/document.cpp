#include "core/text/document.h"

#include <algorithm>

#include "core/text/utf8.h"

namespace tutti::core {

std::optional<std::string_view> utf8_content(std::string_view text, const std::string& file,
                                             Problems& problems) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  // A text has no NUL bytes, but nearly every binary file has some near its beginning.
  if (text.substr(0, 4096).find('\0') != std::string_view::npos) {
    problems.add({ProblemCode::kSyntax}, {file, 0, 0},
                 "this is a binary file; expected a text file");
    return std::nullopt;
  }
  const std::size_t bad = valid_utf8(text);
  if (bad == text.size()) return text;
  const std::string_view before = text.substr(0, bad);
  const auto line = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  problems.add({ProblemCode::kSyntax},
               {file, static_cast<int>(line) + 1, static_cast<int>(bad - line_start) + 1},
               "byte 0x{:02x} is not valid UTF-8; save this file in UTF-8 (iconv and most editors "
               "can do this)",
               static_cast<unsigned char>(text[bad]));
  return std::nullopt;
}

void check_utf8(std::string& text, const Location& where, Problems& problems) {
  if (valid_utf8(text) == text.size()) return;
  problems.add({ProblemCode::kSyntax}, where,
               "the escapes in this string are not valid UTF-8; write the characters themselves, "
               "or each as \\uXXXX");
  problems.ignore_later_ones_at(where);
  text = "\uFFFD";
}

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
  const std::optional<std::string_view> content = utf8_content(text, file, problems);
  if (!content) return {{}, true};
  text = *content;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '<') {
    problems.add({ProblemCode::kSyntax}, {file, 1, 1},
                 "expected the name of a field, found '<'; this seems to be an HTML or XML file");
    return {{}, true};
  }
  if (file.ends_with(".yaml") || file.ends_with(".yml")) {
    problems.add({ProblemCode::kSyntax}, {file, 0, 0},
                 "this seems to be a YAML file; write the fields in the text format of Protocol "
                 "Buffers, such as run {{ steps: 3 }}, or in JSON");
    return {{}, true};
  }
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? parse_json(text, file, problems) : parse_text_format(text, file, problems);
}

}  // namespace tutti::core
