#pragma once

// Values of an algorithm's expressions: how they are computed, and what is known about them before
// they are.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::core::custom {

/// Variables of an expression: the rank, the lane's number, and those of the loops around it.
inline constexpr int kRankSlot = 0;
inline constexpr int kLaneSlot = 1;
inline constexpr int kFirstLoopSlot = 2;
inline constexpr int kSlots = 16;
using Variables = std::array<std::int64_t, kSlots>;

/// No value exceeds this, which is checked before any is computed.
inline constexpr std::int64_t kLargestValue = std::int64_t{1} << 60;

enum class ValueOp : std::uint8_t {
  kConstant,
  kVariable,
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,  ///< rounds down
  kModulo,  ///< 0 or more
  kMin,
  kMax,
  kAbs,
  kPower,
  kXor,
  kLog2,  ///< rounds down
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
  std::int64_t number = 0;  ///< the constant, or the variable's slot
};

/// Quotients and remainders as mathematicians have them. REQUIRES: divisor > 0.
inline std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}
inline std::int64_t floor_modulo(std::int64_t value, std::int64_t divisor) {
  const std::int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}
/// `value` modulo `count`; most values need no division. REQUIRES: count > 0.
inline std::int64_t wrapped(std::int64_t value, std::int64_t count) {
  if (value < 0)
    value += count;
  else if (value >= count)
    value -= count;
  return value >= 0 && value < count ? value : floor_modulo(value, count);
}

/// base + Σ coefficient · variable, of up to two variables; or a tree of nodes, which takes longer.
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

/// The nodes of all expressions of an algorithm. Expressions that occur several times share theirs.
class ValueTrees {
 public:
  [[nodiscard]] std::int64_t at(const Value& value, const Variables& variables) const {
    if (value.tree >= 0) return node(value.tree, variables);
    std::int64_t sum = value.base;
    for (int i = 0; i < value.count; ++i) {
      const Value::Term& term = value.terms[static_cast<std::size_t>(i)];
      sum += term.coefficient * variables[static_cast<std::size_t>(term.slot)];
    }
    return sum;
  }

  std::vector<ValueNode> nodes;

 private:
  [[nodiscard]] std::int64_t node(int id, const Variables& variables) const;
};

/// The change of a value when all workers are renumbered by w → (w + d) mod workers: it becomes
/// value + step · d, modulo `modulus` (0: exactly). Not `known`: something else.
struct UnderShift {
  bool known = true;
  std::int64_t step = 0;
  std::int64_t modulus = 0;
  [[nodiscard]] bool same() const { return known && step == 0 && modulus == 0; }
  bool operator==(const UnderShift&) const = default;
};

/// Likewise by w → w xor d: it becomes value xor (scale · d). `zeros`, a power of two, divides the
/// value.
struct UnderExchange {
  bool known = true;
  std::int64_t scale = 0;
  std::int64_t zeros = 1;
  [[nodiscard]] bool same() const { return known && scale == 0; }
};

/// base + Σ coefficient · variable, if the value is that.
struct LinearForm {
  bool is = false;
  std::int64_t base = 0;
  std::array<std::int64_t, kSlots> coefficients{};
};

/// Facts about a value that hold for all ranks and rounds.
struct Facts {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t uses = 0;  ///< a bit per slot
  std::int64_t cost = 1;   ///< operations that it takes
  LinearForm linear;
  UnderShift shift;
  UnderExchange exchange;

  [[nodiscard]] bool constant() const { return low == high; }
  [[nodiscard]] bool uses_slot(int slot) const { return (uses >> slot & 1U) != 0; }
};

/// Builds trees, and derives the facts of each node from those of its operands: intervals show,
/// before anything runs, that no divisor is 0 and nothing overflows.
class ValueBuilder {
 public:
  /// Called with a code and a text about the node that is being built.
  using Complain = std::function<void(ProblemCode, const std::string&)>;
  ValueBuilder(std::int64_t ranks, std::int64_t per_node);

  int constant(std::int64_t value);
  /// The current rank.
  int rank();
  /// A loop's variable between `low` and `high` (both included). `same`: whatever the rank, it
  /// takes the same values.
  int variable(int slot, std::int64_t low, std::int64_t high, bool same_shift, bool same_exchange);
  /// The node of `op` on nodes. What is wrong with it goes to `complain`; the result is a constant
  /// then.
  int apply(ValueOp op, std::vector<int> operands, const Complain& complain);

  [[nodiscard]] const Facts& facts(int id) const { return facts_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] Value value(int id) const;
  /// The value without the rank, if it is the rank plus something.
  [[nodiscard]] bool is_rank_plus(int id) const;
  [[nodiscard]] Value value_without_rank(int id) const;
  void swap_nodes(std::vector<ValueNode>& other) { nodes_.swap(other); }

 private:
  int add(const ValueNode& node, Facts facts);
  void sharpen(Facts& facts) const;
  [[nodiscard]] static Value compact(const LinearForm& linear, int id);

  std::int64_t ranks_;
  std::int64_t per_node_;
  std::array<Facts, kSlots> slots_;  ///< of the variables in use
  std::vector<ValueNode> nodes_;
  std::vector<Facts> facts_;
};

}  // namespace tutti::core::custom
