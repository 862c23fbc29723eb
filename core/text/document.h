#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// A line and a column of the parsed text, both counted from 1.
struct Position {
  int line = 0;
  int column = 0;
};

/// A text of fields and values before their meaning is known: the common form of the Protocol
/// Buffers text format and JSON. Every value keeps its position, so that later problems with it can
/// be located.
struct Value {
  enum class Kind {
    kMessage,     ///< `{ … }`; the fields are in `fields`, in the order of the text
    kList,        ///< `[ … ]`; the items are in `items`
    kString,      ///< quoted; `text` holds the content without quotes and escapes
    kNumber,      ///< `text` holds the digits as written, with a leading '-' if there was one
    kIdentifier,  ///< a bare word: an enum value, true, inf, JSON's null; `text` may begin with '-'
                  ///< (-inf)
  };
  struct Field;

  Kind kind = Kind::kMessage;
  Position at;
  Position end;  ///< the position after its last character: after the closing quote or bracket
  bool damaged = false;  ///< true if a field of the message could not be read, which is a problem,
                         ///< and is not in `fields`
  std::string text;
  std::vector<Field> fields;
  std::vector<Value> items;
};

struct Value::Field {
  std::string name;
  Position at;
  Value value;
};

/// A parsed text. `cut_off`: it ended, or became unreadable, in the middle of a value, so fields
/// that seem to be missing may follow after that place.
struct Document {
  Value root;
  bool cut_off = false;
};

/// Returns the content of a UTF-8 text without the byte order mark that some editors write. If it
/// is not valid UTF-8, reports the first invalid byte and returns nullopt: names are copied into
/// timelines and JSON, which must be UTF-8.
std::optional<std::string_view> utf8_content(std::string_view text, const std::string& file,
                                             Problems& problems);

/// Checks a string whose escapes (\xff, \ud800) have been resolved. Invalid UTF-8 is reported at
/// `where`, as the only problem there, and becomes U+FFFD.
void check_utf8(std::string& text, const Location& where, Problems& problems);

/// Returns how messages refer to the value: `a message`, `the number 5`, `"abc"`, …
std::string describe(const Value& value);

/// Parses the Protocol Buffers text format (comments from '#' to the end of the line). After a
/// syntax error the parser continues at the next thing that looks like a field, so that later
/// mistakes are reported too; the result then holds what could be read. Values nested deeper than
/// 64 are a problem, not a stack overflow.
Document parse_text_format(std::string_view text, const std::string& file, Problems& problems);

/// Parses JSON, up to its first syntax error. If a field name occurs twice, both fields are kept.
Document parse_json(std::string_view text, const std::string& file, Problems& problems);

/// Parses JSON if the first character that is not white space is '{' or '[', the text format
/// otherwise.
Document parse_document(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core
