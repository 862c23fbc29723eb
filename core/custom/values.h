#pragma once

// The values of the expressions in an algorithm's text. The compiler derives properties of each
// value that hold for all ranks and loop iterations, such as the interval in which the value lies.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::core::custom {

/// The indices of the variables that an expression can use: the rank, the number of the lane, and
/// the variables of the loops around the expression.
inline constexpr int kRankSlot = 0;
inline constexpr int kLaneSlot = 1;
inline constexpr int kFirstLoopSlot = 2;
inline constexpr int kSlots = 16;
using Variables = std::array<std::int64_t, kSlots>;

/// The largest allowed absolute value of an expression. The compiler rejects an expression whose
/// absolute value could exceed this limit.
inline constexpr std::int64_t kLargestValue = std::int64_t{1} << 60;

enum class ValueOp : std::uint8_t {
  kConstant,
  kVariable,
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,  ///< the quotient is rounded down
  kModulo,  ///< the result is at least 0
  kMin,
  kMax,
  kAbs,
  kPower,
  kXor,
  kLog2,  ///< the logarithm is rounded down
  kLowestBit,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAnd,
  kOr,
  kChoose,
};

struct ValueNode {
  ValueOp op = ValueOp::kConstant;
  int a = -1;
  int b = -1;
  int c = -1;
  std::int64_t number = 0;  ///< for kConstant, the value; for kVariable, the slot
};

/// Returns the quotient, rounded down. floor_modulo() returns the remainder, which is at least 0.
/// REQUIRES: divisor > 0.
inline std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}
inline std::int64_t floor_modulo(std::int64_t value, std::int64_t divisor) {
  const std::int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}
/// Returns floor_modulo(value, count). The function needs no division if -count ≤ value < 2 ·
/// count.
/// REQUIRES: count > 0.
inline std::int64_t wrapped(std::int64_t value, std::int64_t count) {
  if (value < 0)
    value += count;
  else if (value >= count)
    value -= count;
  return value >= 0 && value < count ? value : floor_modulo(value, count);
}

/// A value in the form base + Σ coefficient · variable, with up to two variables. All other values
/// are trees of nodes (`tree` ≥ 0), which are slower to compute.
struct Value {
  struct Term {
    int slot = 0;
    std::int64_t coefficient = 0;
  };
  std::int64_t base = 0;
  std::array<Term, 2> terms{};
  int count = 0;
  int tree = -1;
};

/// The nodes of all expressions of an algorithm.
class ValueTrees {
 public:
  [[nodiscard]] std::int64_t at(const Value& value, const Variables& variables) const {
    if (value.tree >= 0) return node(value.tree, variables);
    std::int64_t sum = value.base;
    for (int i = 0; i < value.count; ++i) {
      const Value::Term& term = value.terms[i];
      sum += term.coefficient * variables[term.slot];
    }
    return sum;
  }

  std::vector<ValueNode> nodes;

 private:
  [[nodiscard]] std::int64_t node(int id, const Variables& variables) const;
};

/// The effect on a value if all workers are renumbered: worker w becomes worker (w + d) mod
/// workers. If `known` is true, `value` becomes (value + step · d) mod `modulus`. A `modulus` of 0
/// means that the sum is not reduced by a modulus.
struct UnderShift {
  bool known = true;
  std::int64_t step = 0;
  std::int64_t modulus = 0;
  [[nodiscard]] bool same() const { return known && step == 0 && modulus == 0; }
  bool operator==(const UnderShift&) const = default;
};

/// The effect on a value if all workers are renumbered: worker w becomes worker w xor d. If `known`
/// is true, `value` becomes value xor (scale · d). The value is a multiple of `zeros`, which is a
/// power of two.
struct UnderExchange {
  bool known = true;
  std::int64_t scale = 0;
  std::int64_t zeros = 1;
  [[nodiscard]] bool same() const { return known && scale == 0; }
};

/// A value as a linear form base + Σ coefficient · variable. If `is` is false, the value is not
/// linear in the variables.
struct LinearForm {
  bool is = false;
  std::int64_t base = 0;
  std::array<std::int64_t, kSlots> coefficients{};
};

/// Properties of a value that hold for all ranks and all loop iterations.
struct Facts {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t uses = 0;  ///< bit s is set if the value depends on the variable in slot s
  std::int64_t cost = 1;   ///< number of operations needed to compute the value
  LinearForm linear;
  UnderShift shift;
  UnderExchange exchange;

  [[nodiscard]] bool constant() const { return low == high; }
  [[nodiscard]] bool uses_slot(int slot) const { return (uses >> slot & 1U) != 0; }
};

/// Builds trees. Derives the properties of each new node from the properties of its operands. Uses
/// the intervals of values (`low` to `high`) to prove that no divisor is 0 and no value overflows;
/// if this cannot be proved, reports a problem.
class ValueBuilder {
 public:
  /// The callback for problems of the node that is being built. The callback receives the code and
  /// the text of each problem.
  using Complain = std::function<void(ProblemCode, const std::string&)>;
  ValueBuilder(std::int64_t ranks, std::int64_t per_node);

  int constant(std::int64_t value);
  /// Returns a node for the rank that executes the step.
  int rank();
  /// Returns a node for the variable of a loop with values from `low` to `high`, inclusive.
  /// `same_shift` is true if the shift of workers (UnderShift) leaves the values of the variable
  /// unchanged. `same_exchange` is true if the exchange of workers (UnderExchange) leaves the
  /// values of the variable unchanged.
  int variable(int slot, std::int64_t low, std::int64_t high, bool same_shift, bool same_exchange);
  /// Returns a node that applies `op` to the nodes `operands`. If the operands are invalid, calls
  /// `complain` and returns a constant.
  int apply(ValueOp op, std::vector<int> operands, const Complain& complain);

  [[nodiscard]] const Facts& facts(int id) const { return facts_[id]; }
  [[nodiscard]] Value value(int id) const;
  /// True if the value is the rank plus a value that is the same on all ranks.
  [[nodiscard]] bool is_rank_plus(int id) const;
  [[nodiscard]] Value value_without_rank(int id) const;
  void swap_nodes(std::vector<ValueNode>& other) { nodes_.swap(other); }

 private:
  int add(const ValueNode& node, Facts facts);
  void sharpen(Facts& facts) const;
  [[nodiscard]] static Value compact(const LinearForm& linear, int id);

  std::int64_t ranks_;
  std::int64_t per_node_;
  std::array<Facts, kSlots> slots_;  ///< properties of the variables that are in scope
  std::vector<ValueNode> nodes_;
  std::vector<Facts> facts_;
};

}  // namespace tutti::core::custom
