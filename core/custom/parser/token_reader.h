#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/custom/parser/tokens.h"
#include "core/custom/syntax.h"

namespace tutti::core::custom {

template <class Words>
bool is_one_of(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// True if the word is reserved, so that it cannot be used as a name.
bool is_reserved(const std::string& word);

/// The parser's position in the text, and the functions for tokens that all parts of the parser
/// use.
class TokenReader {
 protected:
  TokenReader(std::string_view text, const std::string& file, Problems& problems)
      : problems_(problems), before_(problems.size()), tokens_(tokens_of(text, file, problems)) {
    syntax_.file = file;
  }

  using Kind = Token::Kind;

  [[nodiscard]] const Token& token() const { return tokens_[next_]; }

  [[nodiscard]] bool ended() const { return token().kind == Kind::kEnd; }
  [[nodiscard]] bool is(std::string_view text) const {
    return token().text == text && (token().kind == Kind::kName || token().kind == Kind::kSymbol);
  }

  void advance() {
    if (!ended()) ++next_;
  }

  bool accept(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }

  template <class... Args>
  void complain(ProblemCode code, Position at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code}, {syntax_.file, at.line, at.column}, format, std::forward<Args>(args)...);
  }

  /// Reports a syntax error, unless the current item (a header item or a statement) already has
  /// one. The caller skips the rest of the item (recover()).
  void fail(const std::string& expected);
  void expect(std::string_view text);
  /// Goes to the end of the text after an error from which the parser cannot recover.
  void skip_to_end() { next_ = tokens_.size() - 1; }

  /// Skips to the next word that is in `words`, or to the bracket that closes the block.
  template <class Words>
  void recover(const Words& words, bool in_block) {
    int open = 0;
    while (!ended()) {
      if (open == 0 && is_one_of(token().text, words) && token().kind == Kind::kName) break;
      if (is("{")) ++open;
      if (is("}")) {
        if (open == 0 && in_block) break;
        if (open > 0) --open;
      }
      advance();
    }
    failed_ = false;
  }

  std::string parse_name(const std::string& what);
  /// Parses a name that the text defines, such as the name of a lane or of a loop variable. Reports
  /// a problem if the name is a reserved word. `what` describes the name in error messages.
  std::string parse_new_name(const std::string& what);

  Problems& problems_;
  std::size_t before_;  ///< number of problems that were found before this text was parsed, such as
                        ///< problems of the scenario
  Syntax syntax_;
  bool failed_ = false;  ///< true: the current item has a syntax error

 private:
  [[nodiscard]] std::string found() const;

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

}  // namespace tutti::core::custom
