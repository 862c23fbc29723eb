#pragma once

// Values of an algorithm's expressions: their computation, and the facts about them that are known
// in advance.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::core::custom {

/// The variables of an expression: the rank, the lane's index, and those of the loops around it.
inline constexpr int kRankSlot = 0;
inline constexpr int kLaneSlot = 1;
inline constexpr int kFirstLoopSlot = 2;
inline constexpr int kSlots = 16;
using Variables = std::array<std::int64_t, kSlots>;

/// The limit of all values, which is checked before a value is computed.
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
  kModulo,  ///< the result is 0 or more
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

/// Quotients are rounded down, and remainders are not negative. REQUIRES: divisor > 0.
inline std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}
inline std::int64_t floor_modulo(std::int64_t value, std::int64_t divisor) {
  const std::int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}
/// Returns `value` modulo `count`; for most values this needs no division. REQUIRES: count > 0.
inline std::int64_t wrapped(std::int64_t value, std::int64_t count) {
  if (value < 0)
    value += count;
  else if (value >= count)
    value -= count;
  return value >= 0 && value < count ? value : floor_modulo(value, count);
}

/// A value: base + Σ coefficient · variable, with up to two variables; or, more slowly, a tree of
/// nodes.
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

/// The nodes of all expressions of an algorithm. Equal expressions share their nodes.
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

/// The change of a value if all workers are renumbered by w → (w + d) mod workers: it becomes value
/// + step · d, modulo `modulus` (0: exactly). Not `known`: something else.
struct UnderShift {
  bool known = true;
  std::int64_t step = 0;
  std::int64_t modulus = 0;
  [[nodiscard]] bool same() const { return known && step == 0 && modulus == 0; }
  bool operator==(const UnderShift&) const = default;
};

/// The change of a value under w → w xor d: it becomes value xor (scale · d). The value is a
/// multiple of `zeros`, a power of two.
struct UnderExchange {
  bool known = true;
  std::int64_t scale = 0;
  std::int64_t zeros = 1;
  [[nodiscard]] bool same() const { return known && scale == 0; }
};

/// The linear form base + Σ coefficient · variable of a value, if it has one.
struct LinearForm {
  bool is = false;
  std::int64_t base = 0;
  std::array<std::int64_t, kSlots> coefficients{};
};

/// Facts about a value that hold for all ranks and rounds.
struct Facts {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t uses = 0;  ///< one bit per slot on which the value depends
  std::int64_t cost = 1;   ///< number of operations to compute the value
  LinearForm linear;
  UnderShift shift;
  UnderExchange exchange;

  [[nodiscard]] bool constant() const { return low == high; }
  [[nodiscard]] bool uses_slot(int slot) const { return (uses >> slot & 1U) != 0; }
};

/// Builds trees, and derives the facts about each node from those about its operands: intervals
/// prove, before anything runs, that no divisor is 0 and nothing overflows.
class ValueBuilder {
 public:
  /// Called with a code and a text for problems of the node that is being built.
  using Complain = std::function<void(ProblemCode, const std::string&)>;
  ValueBuilder(std::int64_t ranks, std::int64_t per_node);

  int constant(std::int64_t value);
  /// The current rank.
  int rank();
  /// Returns the variable of a loop from `low` to `high`, inclusive. `same`: it takes the same
  /// values on every rank.
  int variable(int slot, std::int64_t low, std::int64_t high, bool same_shift, bool same_exchange);
  /// Returns a node that applies `op` to nodes. Problems go to `complain`; the result is then a
  /// constant.
  int apply(ValueOp op, std::vector<int> operands, const Complain& complain);

  [[nodiscard]] const Facts& facts(int id) const { return facts_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] Value value(int id) const;
  /// True if the value is the rank plus a value that does not depend on the rank.
  [[nodiscard]] bool is_rank_plus(int id) const;
  [[nodiscard]] Value value_without_rank(int id) const;
  void swap_nodes(std::vector<ValueNode>& other) { nodes_.swap(other); }

 private:
  int add(const ValueNode& node, Facts facts);
  void sharpen(Facts& facts) const;
  [[nodiscard]] static Value compact(const LinearForm& linear, int id);

  std::int64_t ranks_;
  std::int64_t per_node_;
  std::array<Facts, kSlots> slots_;  ///< facts about the variables in use
  std::vector<ValueNode> nodes_;
  std::vector<Facts> facts_;
};

}  // namespace tutti::core::custom
