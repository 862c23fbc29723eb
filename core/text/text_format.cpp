// A parser for Protocol Buffers text format that keeps places and reports every mistake. google::protobuf::TextFormat
// stops at the first one and tells no places for what it accepted; its tokenizer is used here, its parser is not.

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "core/text/document.h"

namespace tutti::core {
namespace {

using google::protobuf::io::Tokenizer;

constexpr int kDeepest = 64;

class TokenErrors : public google::protobuf::io::ErrorCollector {
 public:
  TokenErrors(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}
  void AddError(int line, int column, const std::string& message) override {
    problems_.add({file_, line + 1, column + 1}, "{}", message);
  }

 private:
  const std::string& file_;
  Problems& problems_;
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
    document.cut_off = cut_off_;
    return document;
  }

 private:
  [[nodiscard]] const Tokenizer::Token& token() const { return tokens_.current(); }
  [[nodiscard]] Position at() const { return {token().line + 1, token().column + 1}; }
  [[nodiscard]] bool is(std::string_view text) const {
    return token().text == text && token().type != Tokenizer::TYPE_STRING;
  }
  [[nodiscard]] bool ended() const { return token().type == Tokenizer::TYPE_END; }
  [[nodiscard]] std::string shown() const {
    return ended() ? "the end of the file" : "'" + token().text.substr(0, 40) + "'";
  }

  bool accept(std::string_view text) {
    if (!is(text)) return false;
    tokens_.Next();
    return true;
  }

  void complain(const std::string& expected) {
    problems_.add({file_, at().line, at().column}, "expected {}, found {}", expected, shown());
    failed_ = true;
  }

  /// Skips to the first token of a later line, or to a bracket that may close the message at hand.
  void recover() {
    const int line = token().line;
    int open = 0;
    while (!ended()) {
      if (is("{") || is("<")) ++open;
      if (is("}") || is(">")) {
        if (open == 0) break;
        --open;
      } else if (open == 0 && token().line > line && token().type == Tokenizer::TYPE_IDENTIFIER) {
        break;
      }
      tokens_.Next();
    }
    failed_ = false;
  }

  void parse_fields(Value& message, std::string_view closing, int depth) {
    while (true) {
      if (ended()) {
        // Of messages in each other the innermost is told: what is around it may be whole but for that.
        if (!closing.empty() && !cut_off_) {
          problems_.add({file_, message.at.line, message.at.column}, "this is not closed; a '{}' is missing", closing);
          cut_off_ = true;
        }
        return;
      }
      if (!closing.empty() && accept(closing)) return;
      parse_field(message, depth);
      if (failed_) {
        recover();
        // A bracket that closes something else closes nothing: without this step the loop would stay at it.
        if ((is("}") || is(">")) && !is(closing)) tokens_.Next();
      }
    }
  }

  void parse_field(Value& message, int depth) {
    if (is("[")) {
      problems_.add({file_, at().line, at().column},
                    "extension names in [ ] mean nothing here; write a field of the schema");
      failed_ = true;
      tokens_.Next();
      return;
    }
    if (token().type != Tokenizer::TYPE_IDENTIFIER) return complain("a field name");
    Value::Field field{token().text, at(), {}};
    tokens_.Next();
    const bool colon = accept(":");
    if (!colon && !is("{") && !is("<")) return complain("':' after \"" + field.name + "\"");
    field.value = parse_value(depth);
    if (failed_) return;
    if (!accept(";")) accept(",");
    message.fields.push_back(std::move(field));
  }

  Value parse_value(int depth) {
    Value value;
    value.at = at();
    if (depth >= kDeepest) {
      problems_.add({file_, value.at.line, value.at.column}, "values are nested deeper than {} levels", kDeepest);
      while (!ended()) tokens_.Next();
      cut_off_ = true;
      return value;
    }
    if (is("{") || is("<")) {
      const std::string_view closing = is("{") ? "}" : ">";
      tokens_.Next();
      parse_fields(value, closing, depth + 1);
      return value;
    }
    if (accept("[")) {
      value.kind = Value::Kind::kList;
      if (accept("]")) return value;
      do {
        value.items.push_back(parse_value(depth + 1));
        if (failed_) return value;
      } while (accept(","));
      if (!accept("]")) complain("',' or ']'");
      return value;
    }
    if (token().type == Tokenizer::TYPE_STRING) {
      value.kind = Value::Kind::kString;
      while (token().type == Tokenizer::TYPE_STRING) {
        Tokenizer::ParseStringAppend(token().text, &value.text);
        tokens_.Next();
      }
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
    value.text += token().text;
    tokens_.Next();
    return value;
  }

  const std::string& file_;
  Problems& problems_;
  TokenErrors errors_;
  google::protobuf::io::ArrayInputStream stream_;
  mutable Tokenizer tokens_;  // current() is not const in 3.21
  bool failed_ = false;       ///< the field at hand cannot be read on
  bool cut_off_ = false;      ///< the text ended inside a message
};

}  // namespace

Document parse_text_format(std::string_view text, const std::string& file, Problems& problems) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, left by some editors
  return TextParser(text, file, problems).parse();
}

}  // namespace tutti::core
