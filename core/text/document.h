#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// Line and column in the text at hand, both from 1.
struct Position {
  int line = 0;
  int column = 0;
};

/// A text of fields and values as its author wrote it, before anything is known about what the fields mean: the common
/// form of Protocol Buffers text format and JSON. Every value keeps its place, so that whatever is wrong with it later
/// can be pointed at.
struct Value {
  enum class Kind {
    kMessage,     ///< `{ … }`; the fields are in `fields`, in the order of the text
    kList,        ///< `[ … ]`; the items are in `items`
    kString,      ///< quoted; `text` holds the content without quotes and escapes
    kNumber,      ///< `text` holds the digits as written, with a leading '-' if there was one
    kIdentifier,  ///< a bare word: an enum value, true, inf, JSON's null; `text` may begin with '-' (-inf)
  };
  struct Field;

  Kind kind = Kind::kMessage;
  Position at;
  Position end;          ///< behind its last character: behind the closing quote or bracket
  bool damaged = false;  ///< a field of the message could not be read (a problem), and is not in `fields`
  std::string text;
  std::vector<Field> fields;
  std::vector<Value> items;
};

struct Value::Field {
  std::string name;
  Position at;
  Value value;
};

/// A text as it was read. `cut_off`: it ended, or could not be read on, in the middle of a value, so that what seems to
/// be missing may well stand behind.
struct Document {
  Value root;
  bool cut_off = false;
};

/// What a text in UTF-8 holds behind a byte order mark, which some editors put at its beginning. Nothing, and a problem
/// at the first byte that is wrong, if it is not in UTF-8: names go on into timelines and JSON, which take nothing else.
std::optional<std::string_view> utf8_content(std::string_view text, const std::string& file, Problems& problems);

/// The same for a string whose escapes (\xff, \ud800) have been resolved. One that is wrong is a problem at `where`, the
/// only one there, and becomes U+FFFD.
void check_utf8(std::string& text, const Location& where, Problems& problems);

/// What the value is called in an error: `a message`, `the number 5`, `"abc"`, …
std::string describe(const Value& value);

/// The fields of a Protocol Buffers text file (comments from '#' to the end of the line).
/// After a mistake in the syntax the parser goes on at the next thing that looks like a field, so that later mistakes are
/// reported too; what it returns then is what it could make out. Values nested deeper than 64 are a problem, not a stack
/// overflow.
Document parse_text_format(std::string_view text, const std::string& file, Problems& problems);

/// The same for JSON. JSON stops at its first syntax error. Two fields of one name are kept, both.
Document parse_json(std::string_view text, const std::string& file, Problems& problems);

/// JSON if the first character that is not white space is '{' or '[', text format otherwise.
Document parse_document(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core
