// Parses expressions by precedence climbing. An operator binds more tightly than all operators of a
// lower level:
//
//     0  or    1  and    2  not    3  == != <= >= < > (not chained)    4  + -    5  * / %

#include "core/custom/parser/expression_parser.h"

#include <algorithm>
#include <array>

namespace tutti::core::custom {
namespace {

constexpr std::size_t kMaxExpressions = std::size_t{1} << 20;

}  // namespace

ExpressionId ExpressionParser::add(Expression expression) {
  if (syntax_.expressions.size() >= kMaxExpressions) {
    if (!failed_)
      complain(ProblemCode::kTooLarge, expression.at,
               "the algorithm has more than {} terms; simplify the algorithm", kMaxExpressions);
    failed_ = true;
    return 0;
  }
  syntax_.expressions.push_back(std::move(expression));
  return static_cast<ExpressionId>(syntax_.expressions.size()) - 1;
}

ExpressionId ExpressionParser::parse_expression() {
  if (failed_) return -1;
  if (++depth_ > kDeepestNesting) {
    complain(ProblemCode::kSyntax, token().at, "expressions are nested deeper than {} levels",
             kDeepestNesting);
    failed_ = true;
    skip_to_end();
    --depth_;
    return -1;
  }
  const ExpressionId id = is("if") ? parse_choice() : parse_binary(0);
  --depth_;
  return id;
}

ExpressionId ExpressionParser::parse_choice() {
  const Position at = token().at;
  advance();
  const ExpressionId condition = parse_expression();
  expect("then");
  const ExpressionId yes = parse_expression();
  expect("else");
  const ExpressionId no = parse_expression();
  return failed_ ? -1 : add({Operator::kChoose, at, 0, "", {condition, yes, no}, false});
}

const ExpressionParser::Binary* ExpressionParser::binary() const {
  static constexpr std::array kAll{
      Binary{"or", Operator::kOr, 0},        Binary{"and", Operator::kAnd, 1},
      Binary{"==", Operator::kEqual, 3},     Binary{"!=", Operator::kNotEqual, 3},
      Binary{"<=", Operator::kLessEqual, 3}, Binary{">=", Operator::kGreaterEqual, 3},
      Binary{"<", Operator::kLess, 3},       Binary{">", Operator::kGreater, 3},
      Binary{"+", Operator::kAdd, 4},        Binary{"-", Operator::kSubtract, 4},
      Binary{"*", Operator::kMultiply, 5},   Binary{"/", Operator::kDivide, 5},
      Binary{"%", Operator::kModulo, 5}};
  const auto found =
      std::find_if(kAll.begin(), kAll.end(), [&](const Binary& one) { return is(one.text); });
  return found == kAll.end() ? nullptr : &*found;
}

ExpressionId ExpressionParser::parse_binary(int level) {
  if (level > 5) return parse_unary();
  if (level == 2) return parse_not();
  ExpressionId left = parse_binary(level + 1);
  for (const Binary* op = binary(); !failed_ && op && op->level == level; op = binary()) {
    const Position at = token().at;
    advance();
    const ExpressionId right = parse_binary(level + 1);
    if (failed_) return -1;
    left = add({op->op, at, 0, "", {left, right}, false});
    if (level == 3) break;  // comparisons cannot be chained: a < b < c
  }
  return left;
}

ExpressionId ExpressionParser::parse_not() {
  if (!is("not")) return parse_binary(3);
  const Position at = token().at;
  advance();
  const ExpressionId operand = nested([&] { return parse_not(); });
  return failed_ ? -1 : add({Operator::kNot, at, 0, "", {operand}, false});
}

ExpressionId ExpressionParser::parse_unary() {
  if (!is("-")) return parse_primary();
  const Position at = token().at;
  advance();
  const ExpressionId operand = nested([&] { return parse_unary(); });
  return failed_ ? -1 : add({Operator::kNegate, at, 0, "", {operand}, false});
}

ExpressionId ExpressionParser::parse_primary() {
  if (failed_) return -1;
  const Token& word = token();
  if (word.kind == Kind::kNumber) {
    advance();
    return add({Operator::kNumber, word.at, word.number, "", {}, false});
  }
  if (accept("(")) {
    const ExpressionId inside = parse_expression();
    expect(")");
    return inside;
  }
  if (word.kind != Kind::kName || is_reserved(word.text))
    return fail("a number, a name or '('"), -1;
  Expression expression{Operator::kName, word.at, 0, word.text, {}, false};
  advance();
  if (accept("(")) {
    expression.is_call = true;
    do {
      expression.operands.push_back(parse_expression());
    } while (!failed_ && accept(","));
    expect(")");
  }
  return failed_ ? -1 : add(std::move(expression));
}

}  // namespace tutti::core::custom
