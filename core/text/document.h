#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// A line and a column of a parsed text, both counted from 1.
struct Position {
  int line = 0;
  int column = 0;
};

/// A value of a parsed text (Protocol Buffers text format or JSON) that has not been compared with
/// a schema. Every value has its position in the text, so that later stages can report problems at
/// this position.
struct Value {
  enum class Kind {
    kMessage,     ///< `{ … }`; the fields are in `fields`, in the order of the text
    kList,        ///< `[ … ]`; the items are in `items`
    kString,      ///< a quoted string; `text` is the content without quotes, with escapes resolved
    kNumber,      ///< `text` is the number as written, including a leading '-'
    kIdentifier,  ///< a word without quotes, such as an enum value, true, inf or JSON's null;
                  ///< `text` may begin with '-' (-inf)
  };
  struct Field;

  Kind kind = Kind::kMessage;
  Position at;
  Position end;  ///< position after the last character, such as the closing quote or bracket
  bool from_json = false;  ///< true for scalars of JSON, in which a number may be written as a
                           ///< quoted string
  bool damaged = false;    ///< true if a field of the message could not be parsed; a problem was
                           ///< reported, and the field is not in `fields`
  std::string text;
  std::vector<Field> fields;
  std::vector<Value> items;
};

struct Value::Field {
  std::string name;
  Position at;
  Value value;
};

/// A parsed text. `cut_off` is true if the text ended in the middle of a value, or could not be
/// parsed from some position on. The document may then lack fields that the text has.
struct Document {
  Value root;
  bool cut_off = false;
};

/// Returns the text without the UTF-8 byte order mark at its beginning, which some editors write.
/// If the text is not valid UTF-8, reports the first invalid byte and returns nullopt. Texts must
/// be UTF-8, because names are copied into timelines and JSON.
std::optional<std::string_view> utf8_content(std::string_view text, const std::string& file,
                                             Problems& problems);

/// Checks a string in which escapes (\xff, \ud800) are resolved. If the string is not valid UTF-8,
/// reports one problem at `where`, and replaces the whole string by U+FFFD. Later problems at
/// `where` are ignored.
void check_utf8(std::string& text, const Location& where, Problems& problems);

/// Returns a description of the value for error messages: `a message`, `the number 5`, `"abc"`, …
std::string describe(const Value& value);

/// Parses the Protocol Buffers text format (comments from '#' to the end of the line). After a
/// syntax error, the parser continues at the next apparent beginning of a field, so that later
/// errors are reported too. The result contains all fields that could be parsed. Nesting deeper
/// than 64 levels is an error, so that the stack cannot overflow.
Document parse_text_format(std::string_view text, const std::string& file, Problems& problems);

/// Parses JSON up to the first syntax error. If a name occurs twice in an object, the result
/// contains both fields.
Document parse_json(std::string_view text, const std::string& file, Problems& problems);

/// Parses JSON if the first character that is not white space is '{' or '['; otherwise parses the
/// text format.
Document parse_document(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core
