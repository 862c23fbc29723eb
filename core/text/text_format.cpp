// A parser for the Protocol Buffers text format that keeps positions and reports every mistake.
// google::protobuf::TextFormat cannot be used, because it stops at the first mistake and does not
// give the positions of valid fields. The parser uses only Protobuf's tokenizer.

#include <optional>
#include <utility>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "core/base/quantity.h"
#include "core/text/document.h"
#include "core/text/limits.h"
#include "core/text/text_limits.h"
#include "core/text/utf8.h"

namespace tutti::core {
namespace {

using google::protobuf::io::Tokenizer;

class TokenErrors : public google::protobuf::io::ErrorCollector {
 public:
  TokenErrors(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}
  void AddError(int line, int column, const std::string& message) override {
    const Location where{file_, line + 1, column + 1};
    if (message.starts_with("Interpreting non ascii")) {
      // The tokenizer reports every byte of a non-ASCII character. A sequence
      // of such bytes is reported once.
      if (where.line != last_.line || where.column != last_.column + 1)
        problems_.add({ProblemCode::kSyntax}, where,
                      "non-ASCII characters are allowed only in strings (\"…\") and comments");
      last_ = where;
    } else {
      problems_.add({ProblemCode::kSyntax}, where, "{}", message);
    }
    problems_.ignore_later_ones_at(where);
  }

 private:
  const std::string& file_;
  Problems& problems_;
  Location last_;  ///< location of the last byte that is not ASCII
};

class TextParser {
 public:
  TextParser(std::string_view text, const std::string& file, Problems& problems)
      : file_(file),
        problems_(problems),
        errors_(file, problems),
        stream_(text.data(), static_cast<int>(text.size())),
        tokens_(&stream_, &errors_) {
    tokens_.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokens_.set_require_space_after_number(false);
    tokens_.set_allow_f_after_float(true);
    tokens_.Next();
  }

  Document parse() {
    Document document;
    document.root.at = {1, 1};
    parse_fields(document.root, "", 0);
    document.root.end = at();
    document.cut_off = cut_off_;
    return document;
  }

 private:
  [[nodiscard]] const Tokenizer::Token& token() const { return tokens_.current(); }
  [[nodiscard]] Position at() const { return {token().line + 1, token().column + 1}; }
  /// Returns the position just after the previous token.
  [[nodiscard]] Position behind() const {
    return {tokens_.previous().line + 1, tokens_.previous().end_column + 1};
  }
  [[nodiscard]] bool is(std::string_view text) const {
    return token().text == text && token().type != Tokenizer::TYPE_STRING;
  }
  [[nodiscard]] bool ended() const { return token().type == Tokenizer::TYPE_END; }
  [[nodiscard]] std::string shown() const {
    if (ended()) return "the end of the file";
    const std::string_view head = std::string_view(token().text).substr(0, 40);
    return "'" + std::string(head.substr(0, valid_utf8(head))) + "'";
  }
  [[nodiscard]] bool at_value_after_colon() const {
    return token().type == Tokenizer::TYPE_STRING || token().type == Tokenizer::TYPE_INTEGER ||
           token().type == Tokenizer::TYPE_FLOAT || is("-");
  }

  bool accept(std::string_view text) {
    if (!is(text)) return false;
    tokens_.Next();
    return true;
  }

  /// True if the current token begins where the previous token ends.
  [[nodiscard]] bool adjoins() const {
    return token().line == tokens_.previous().line &&
           token().column == tokens_.previous().end_column;
  }

  /// Reads a unit that directly follows a number: 25MiB, 25GB/s.
  void read_unit(Value& value) {
    if (token().type != Tokenizer::TYPE_IDENTIFIER || !adjoins()) return;
    std::string unit = token().text;
    // A name directly after a number is a unit or the next field: "shards: 4name: …".
    // A misspelled unit is a part of the value, too, so the reader of the value can report it.
    if (!is_unit(unit) && !is_unit(unit + "/s") && !resembles_unit(unit)) return;
    tokens_.Next();
    if (is("/") && adjoins()) {
      tokens_.Next();
      if (!is("s") || !adjoins()) return complain("'s', as in GB/s");
      unit += "/s";
      tokens_.Next();
    }
    value.text += unit;
  }

  void complain(const std::string& expected) {
    problems_.add({ProblemCode::kSyntax}, {file_, at().line, at().column}, "expected {}, found {}",
                  expected, shown());
    failed_ = true;
  }

  /// Reports a comment that begins with // or /*, and skips the rest of its line.
  void skip_foreign_comment() {
    problems_.add({ProblemCode::kSyntax}, {file_, at().line, at().column},
                  "expected a field name, found '/'; comments begin with #");
    const int line = token().line;
    while (!ended() && token().line == line) tokens_.Next();
  }

  /// Skips to the apparent beginning of a field (a name before ':' or '{', or any name at the
  /// beginning of a line), or to a bracket that may close the current message. Each call moves
  /// forward, unless the current token is a bracket that may close the message.
  void recover() {
    const int line = tokens_.previous().line;
    int open = 0;
    while (!begun_ && !ended()) {
      if (is("{") || is("<")) ++open;
      if (is("}") || is(">")) {
        if (open == 0) break;
        --open;
      } else if (is("]") && open == 0 && lists_ > 0) {
        --lists_;
      } else if (open == 0 && token().type == Tokenizer::TYPE_IDENTIFIER) {
        Value::Field field{token().text, at(), {}};
        const bool new_line = token().line > line;
        tokens_.Next();
        const bool has_value = is(":") || is("{") || is("<");
        if (lists_ > 0 ? new_line && has_value : new_line || has_value) {
          begun_ = std::move(field);
        }
        continue;
      }
      tokens_.Next();
    }
    lists_ = 0;
    failed_ = false;
  }

  void parse_fields(Value& message, std::string_view closing, int depth) {
    while (true) {
      if (problems_.full()) cut_off_ = true;
      if (cut_off_) return;
      if (!begun_) {
        if (ended()) {
          // The text ended inside several messages. Report only the innermost message, because the
          // messages around it may lack nothing but their closing brackets.
          if (closing.empty()) return;
          problems_.add({ProblemCode::kSyntax}, {file_, message.at.line, message.at.column},
                        "the closing '{}' is missing", closing);
          cut_off_ = true;
          return;
        }
        if (!closing.empty() && accept(closing)) return;
      }
      parse_field(message, depth);
      if (failed_) {
        message.damaged = true;
        recover();
        // Skip a bracket that does not close this message; otherwise the loop would never advance
        // past it.
        if (!begun_ && (is("}") || is(">")) && !is(closing)) tokens_.Next();
      }
    }
  }

  void parse_field(Value& message, int depth) {
    Value::Field field;
    if (begun_) {
      field = std::move(*begun_);
      begun_.reset();
    } else {
      if (is("[")) {
        problems_.add({ProblemCode::kSyntax}, {file_, at().line, at().column},
                      "extension names in [ ] are not supported; write a field of the schema");
        failed_ = true;
        tokens_.Next();
        return;
      }
      if (is("/")) return skip_foreign_comment();
      if (token().type != Tokenizer::TYPE_IDENTIFIER) return complain("a field name");
      field = {token().text, at(), {}};
      tokens_.Next();
    }
    const bool colon = accept(":");
    if (!colon && !is("{") && !is("<")) {
      complain("':' after \"" + field.name + "\"");
      // If a value seems to follow, read it nevertheless, because a field without a value would
      // cause further problems.
      if (!at_value_after_colon()) return;
      failed_ = false;
    }
    field.value = parse_value(depth);
    if (failed_) return;
    field.value.end = behind();
    if (!accept(";")) accept(",");
    message.fields.push_back(std::move(field));
  }

  Value parse_value(int depth) {
    Value value;
    value.at = at();
    if (depth >= kDeepestNesting) {
      problems_.add({ProblemCode::kSyntax}, {file_, value.at.line, value.at.column},
                    "values are nested deeper than {} levels", kDeepestNesting);
      while (!ended()) tokens_.Next();
      cut_off_ = true;
      return value;
    }
    if (++values_ > kMaxValues) {
      problems_.add({ProblemCode::kTooLarge}, {file_, value.at.line, value.at.column},
                    "this file has more than {} values, which is the limit; use a smaller file",
                    kMaxValues);
      cut_off_ = true;
      return value;
    }
    if (is("{") || is("<")) {
      const std::string_view closing = is("{") ? "}" : ">";
      tokens_.Next();
      const int lists = std::exchange(lists_, 0);
      parse_fields(value, closing, depth + 1);
      lists_ = lists;
      return value;
    }
    if (accept("[")) {
      value.kind = Value::Kind::kList;
      if (accept("]")) return value;
      ++lists_;
      do {
        value.items.push_back(parse_value(depth + 1));
        if (failed_ || cut_off_) return value;
        value.items.back().end = behind();
      } while (accept(","));
      if (!accept("]")) {
        complain("',' or ']'");
        return value;
      }
      --lists_;
      return value;
    }
    if (token().type == Tokenizer::TYPE_STRING) {
      value.kind = Value::Kind::kString;
      while (token().type == Tokenizer::TYPE_STRING) {
        Tokenizer::ParseStringAppend(token().text, &value.text);
        tokens_.Next();
      }
      check_utf8(value.text, {file_, value.at.line, value.at.column}, problems_);
      return value;
    }
    if (accept("-")) value.text = "-";
    if (token().type == Tokenizer::TYPE_INTEGER || token().type == Tokenizer::TYPE_FLOAT) {
      value.kind = Value::Kind::kNumber;
    } else if (token().type == Tokenizer::TYPE_IDENTIFIER) {
      value.kind = Value::Kind::kIdentifier;
    } else {
      complain("a value");
      return value;
    }
    Value::Field next{token().text, at(), {}};
    value.text += next.name;
    tokens_.Next();
    if (value.kind == Value::Kind::kNumber) read_unit(value);
    if (value.kind == Value::Kind::kIdentifier && is(":")) {
      // The value is missing, because the next field follows.
      problems_.add({ProblemCode::kSyntax}, {file_, next.at.line, next.at.column},
                    "expected a value, found the field \"{}\"", next.name);
      begun_ = std::move(next);
      failed_ = true;
    }
    return value;
  }

  const std::string& file_;
  Problems& problems_;
  TokenErrors errors_;
  google::protobuf::io::ArrayInputStream stream_;
  // The tokenizer is mutable because current() and previous() are not const in Protobuf 3.21.
  mutable Tokenizer tokens_;
  std::optional<Value::Field> begun_;  ///< the field whose name recover() has already read, because
                                       ///< it had to look at the next token
  std::int64_t values_ = 0;            ///< number of values in the whole text
  int lists_ = 0;                      ///< number of open lists in the current message
  bool failed_ = false;                ///< true if the rest of the current field cannot be read
  bool cut_off_ = false;  ///< true if the text ended inside a message, or the parser has stopped
};

}  // namespace

Document parse_text_format(std::string_view text, const std::string& file, Problems& problems) {
  const std::optional<std::string_view> content = utf8_content(text, file, problems);
  if (!content) return {{}, true};
  return TextParser(*content, file, problems).parse();
}

}  // namespace tutti::core
