#include "core/custom/parser/tokens.h"

#include <charconv>

namespace tutti::core::custom {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file, Problems& problems)
      : text_(text), file_(file), problems_(problems) {}

  std::vector<Token> run() {
    while (skip_blanks(), at_ < text_.size() && !problems_.full()) read();
    tokens_.push_back({Token::Kind::kEnd, "", 0, here()});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] Position here() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }
  [[nodiscard]] Location where() const { return {file_, line_, here().column}; }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  void read() {
    const char c = text_[at_];
    if (begins_name(c))
      return read_while(Token::Kind::kName, [](char d) { return begins_name(d) || is_digit(d); });
    if (is_digit(c)) return read_number();
    if (c == '"') return read_text();
    for (const std::string_view two : {"==", "!=", "<=", ">="}) {
      if (text_.substr(at_, 2) == two) return add(Token::Kind::kSymbol, 2);
    }
    if (std::string_view("{}()[],+-*/%=<>").find(c) != std::string_view::npos)
      return add(Token::Kind::kSymbol, 1);
    // Consecutive non-ASCII bytes are reported as one error.
    problems_.add({ProblemCode::kSyntax}, where(), "unexpected character; comments begin with #");
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80) ++at_;
    if (at_ < text_.size() && text_[at_] == c) ++at_;
  }

  template <class Predicate>
  void read_while(Token::Kind kind, Predicate belongs) {
    std::size_t length = 1;
    while (at_ + length < text_.size() && belongs(text_[at_ + length])) ++length;
    add(kind, length);
  }

  void read_number() {
    read_while(Token::Kind::kNumber, is_digit);
    Token& token = tokens_.back();
    const char* const end = token.text.data() + token.text.size();
    if (std::from_chars(token.text.data(), end, token.number).ec == std::errc()) return;
    problems_.add({ProblemCode::kTooLarge}, {file_, token.at.line, token.at.column},
                  "{} is too large; the largest number is 2^60", token.text.substr(0, 40));
    token.number = 1;
  }

  void read_text() {
    const std::size_t close = text_.find_first_of("\"\n", at_ + 1);
    if (close == std::string_view::npos || text_[close] == '\n') {
      problems_.add({ProblemCode::kSyntax}, where(),
                    "this string is not closed; add a '\"' at the end");
      at_ = std::min(close, text_.size());
      return;
    }
    const std::size_t length = close - at_ + 1;
    add(Token::Kind::kText, length);
    tokens_.back().text = tokens_.back().text.substr(1, length - 2);
  }

  void add(Token::Kind kind, std::size_t length) {
    tokens_.push_back({kind, std::string(text_.substr(at_, length)), 0, here()});
    at_ += length;
  }

  std::string_view text_;
  const std::string& file_;
  Problems& problems_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text, const std::string& file, Problems& problems) {
  return Lexer(text, file, problems).run();
}

}  // namespace tutti::core::custom
