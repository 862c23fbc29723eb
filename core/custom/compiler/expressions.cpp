// Compiles expressions. A name stands for a node or for a function. A call of a function compiles
// the function's body again with the operands in place of its parameters, so the program has no
// functions. Nodes whose operands are constant become constants at once (ValueBuilder), which is
// how `if ranks > 8` selects a branch before the program exists.

#include "core/custom/compiler/expressions.h"

#include <algorithm>
#include <tuple>

namespace tutti::core::custom {
namespace {

constexpr int kMaxCalls = 32;
constexpr int kMaxTerms = 1 << 21;

struct Builtin {
  ValueOp op = ValueOp::kMin;
  std::size_t operands = 2;
};
const std::map<std::string, Builtin>& builtins() {
  static const std::map<std::string, Builtin> all{{"min", {ValueOp::kMin, 2}},
                                                  {"max", {ValueOp::kMax, 2}},
                                                  {"abs", {ValueOp::kAbs, 1}},
                                                  {"xor", {ValueOp::kXor, 2}},
                                                  {"log2", {ValueOp::kLog2, 1}},
                                                  {"power", {ValueOp::kPower, 2}},
                                                  {"lowest_bit", {ValueOp::kLowestBit, 1}}};
  return all;
}

/// Returns the operation of a node. `a > b` becomes `b < a`, with the operands reversed.
ValueOp op_of(Operator op, std::vector<int>& operands) {
  switch (op) {
    case Operator::kNegate: return ValueOp::kNegate;
    case Operator::kNot: return ValueOp::kNot;
    case Operator::kAdd: return ValueOp::kAdd;
    case Operator::kSubtract: return ValueOp::kSubtract;
    case Operator::kMultiply: return ValueOp::kMultiply;
    case Operator::kDivide: return ValueOp::kDivide;
    case Operator::kModulo: return ValueOp::kModulo;
    case Operator::kEqual: return ValueOp::kEqual;
    case Operator::kNotEqual: return ValueOp::kNotEqual;
    case Operator::kGreater: std::swap(operands[0], operands[1]); return ValueOp::kLess;
    case Operator::kLess: return ValueOp::kLess;
    case Operator::kGreaterEqual: std::swap(operands[0], operands[1]); return ValueOp::kLessEqual;
    case Operator::kLessEqual: return ValueOp::kLessEqual;
    case Operator::kAnd: return ValueOp::kAnd;
    case Operator::kOr: return ValueOp::kOr;
    default: return ValueOp::kChoose;
  }
}

}  // namespace

void ExpressionCompiler::define(const std::string& name, int value, Position at) {
  bind(name, {value, nullptr, 0}, at);
}

void ExpressionCompiler::bind(const std::string& name, Binding binding, Position at) {
  if (find(name))
    complain(ProblemCode::kDuplicate, at, "\"{}\" is already defined; choose another name", name);
  scope_.emplace_back(name, binding);
}

void ExpressionCompiler::define_value(const std::string& name, int value) {
  scope_.emplace_back(name, Binding{value, nullptr, 0});
}

const ExpressionCompiler::Binding* ExpressionCompiler::find(const std::string& name) const {
  for (std::size_t i = scope_.size(); i-- > 0;) {
    if (i < hidden_from_ || i >= hidden_to_) {
      if (scope_[i].first == name) return &scope_[i].second;
    }
  }
  return nullptr;
}

void ExpressionCompiler::define_shape() {
  const AlgorithmShape& shape = program_.shape;
  const int rank = values_.rank();
  const int per_node = values_.constant(shape.per_node);
  define_value("ranks", values_.constant(shape.ranks));
  define_value("nodes", values_.constant(shape.ranks / shape.per_node));
  define_value("gpus", per_node);
  define_value("root", values_.constant(shape.root));
  define_value("rank", rank);
  const auto never = [](ProblemCode, const std::string&) {};
  define_value("node", values_.apply(ValueOp::kDivide, {rank, per_node}, never));
  define_value("gpu", values_.apply(ValueOp::kModulo, {rank, per_node}, never));
}

void ExpressionCompiler::define_let(const Definition& let) {
  if (let.parameters.empty()) {
    const int value = evaluate(let.value);
    return bind(let.name, {value, nullptr, 0}, let.at);
  }
  bind(let.name, {-1, &let, scope_.size()}, let.at);
}

std::int64_t ExpressionCompiler::number(ExpressionId id, const char* what, std::int64_t least,
                                        std::int64_t most) {
  const Facts& facts = values_.facts(evaluate(id));
  const Position at = syntax_.at(id).at;
  if (!facts.constant()) {
    complain(ProblemCode::kInvalid, at, "{} must not depend on the rank", what);
  } else if (facts.low < least || facts.low > most) {
    complain(facts.low < least ? ProblemCode::kTooSmall : ProblemCode::kTooLarge, at,
             "{} must be from {} to {} (got {})", what, least, most, facts.low);
  }
  return facts.constant() ? std::clamp(facts.low, least, most) : least;
}

int ExpressionCompiler::evaluate(ExpressionId id) {
  if (id < 0) return values_.constant(1);
  const Expression& expression = syntax_.at(id);
  if (++terms_ > kMaxTerms) {
    if (terms_ == kMaxTerms + 1)
      complain(ProblemCode::kTooLarge, expression.at,
               "after inlining its functions, the algorithm has more than {} terms; simplify the "
               "algorithm",
               kMaxTerms);
    return values_.constant(1);
  }
  if (expression.op == Operator::kNumber) return evaluate_number(expression);
  if (expression.op == Operator::kName)
    return expression.is_call ? call(expression) : look_up(expression);
  std::vector<int> operands;
  for (const ExpressionId operand : expression.operands) operands.push_back(evaluate(operand));
  const ValueOp op = op_of(expression.op, operands);  // may reverse the operands
  return apply(op, std::move(operands), expression.at);
}

int ExpressionCompiler::evaluate_number(const Expression& expression) {
  if (expression.number <= kLargestValue) return values_.constant(expression.number);
  complain(ProblemCode::kTooLarge, expression.at, "{} is too large; the largest number is 2^60",
           expression.number);
  return values_.constant(1);
}

int ExpressionCompiler::apply(ValueOp op, std::vector<int> operands, Position at) {
  return values_.apply(op, std::move(operands), [&](ProblemCode code, const std::string& text) {
    complain(code, at, "{}", text);
  });
}

int ExpressionCompiler::look_up(const Expression& expression) {
  const Binding* binding = find(expression.name);
  if (binding && !binding->function) return binding->value;
  if (binding) {
    complain(ProblemCode::kWrongType, expression.at, "\"{}\" is a function; say {}(…)",
             expression.name, expression.name);
  } else {
    complain_unknown(expression, false);
  }
  return values_.constant(1);
}

void ExpressionCompiler::complain_unknown(const Expression& expression, bool call) {
  std::vector<std::string> names;
  for (const auto& [name, binding] : scope_) {
    if ((binding.function != nullptr) == call) names.push_back(name);
  }
  if (call) {
    for (const auto& [name, builtin] : builtins()) names.push_back(name);
  }
  complain(ProblemCode::kUnknownName, expression.at, "there is no {} \"{}\" here{}",
           call ? "function" : "value", expression.name, did_you_mean(expression.name, names));
}

int ExpressionCompiler::call(const Expression& expression) {
  std::vector<int> operands;
  for (const ExpressionId operand : expression.operands) operands.push_back(evaluate(operand));
  const Binding* binding = find(expression.name);
  const auto builtin = builtins().find(expression.name);
  if (!binding && builtin == builtins().end())
    return complain_unknown(expression, true), values_.constant(1);
  if (binding && !binding->function) {
    complain(ProblemCode::kWrongType, expression.at,
             "\"{}\" is a value, not a function; remove the parentheses", expression.name);
    return values_.constant(1);
  }
  const std::size_t wanted =
      binding ? binding->function->parameters.size() : builtin->second.operands;
  if (operands.size() != wanted) {
    complain(ProblemCode::kWrongType, expression.at, "{} takes {} value{} (got {})",
             expression.name, wanted, wanted == 1 ? "" : "s", operands.size());
    return values_.constant(1);
  }
  if (!binding) return apply(builtin->second.op, std::move(operands), expression.at);
  return call_function(*binding->function, binding->visible, operands, expression.at);
}

// Returns the body of the function with the operands substituted for its parameters. The body
// can use only names that were defined before the function.
int ExpressionCompiler::call_function(const Definition& function, std::size_t visible,
                                      const std::vector<int>& operands, Position at) {
  if (calls_ >= kMaxCalls) {
    complain(ProblemCode::kTooLarge, at, "function calls are nested deeper than {} levels",
             kMaxCalls);
    return values_.constant(1);
  }
  ++calls_;
  const std::size_t size = scope_.size();
  const auto hidden = std::pair(hidden_from_, hidden_to_);
  // The function sees only names that were defined before it, which are at the beginning of the
  // scope; all later names are hidden.
  hidden_from_ = std::min(visible, size);
  hidden_to_ = size;
  for (std::size_t i = 0; i < operands.size(); ++i)
    define_value(function.parameters[i], operands[i]);
  const int value = evaluate(function.value);
  scope_.resize(size);
  std::tie(hidden_from_, hidden_to_) = hidden;
  --calls_;
  return value;
}

}  // namespace tutti::core::custom
