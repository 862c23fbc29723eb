#pragma once

#include "core/custom/parser/token_reader.h"
#include "core/text/limits.h"

namespace tutti::core::custom {

/// Parses expressions and stores them in Syntax::expressions.
class ExpressionParser : public TokenReader {
 protected:
  using TokenReader::TokenReader;

  /// Parses an expression. Returns -1 after a syntax error.
  ExpressionId parse_expression();

 private:
  struct Binary {
    std::string_view text;
    Operator op;
    int level;  ///< precedence of the operator; operators with a higher level bind more tightly
  };

  ExpressionId add(Expression expression);
  ExpressionId parse_choice();
  /// Returns the binary operator at the current token; null if there is none.
  [[nodiscard]] const Binary* binary() const;
  ExpressionId parse_binary(int level);
  ExpressionId parse_not();
  ExpressionId parse_unary();

  /// Parses the operand of a sign or of `not`, and limits how deep these operators are nested.
  template <class Parse>
  ExpressionId nested(Parse parse) {
    if (depth_ >= kDeepestNesting) return fail("fewer signs in front of a number"), -1;
    ++depth_;
    const ExpressionId id = parse();
    --depth_;
    return id;
  }

  ExpressionId parse_primary();

  int depth_ = 0;
};

}  // namespace tutti::core::custom
