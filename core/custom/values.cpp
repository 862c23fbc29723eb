// An expression is built once, but it is evaluated for the steps of every rank. Therefore the
// builder excludes all possible errors when it builds the nodes, and evaluation checks nothing.
// Each node has properties. The properties are derived from the properties of the operands and hold
// for all ranks and iterations:
// - An interval. The interval proves that no divisor is 0 and no value exceeds 2^60.
// - A linear form, if there is one. The linear form makes the evaluation cheap and narrows the
//   interval.
// - The change of the value if worker w becomes worker w + d or w xor d. With 8 ranks per worker,
//   for example, `rank + 3` changes by 8 d modulo the number of ranks.
// A property may be unknown, but it is never wrong. From the properties, compile.cpp derives bounds
// on the number of steps. It also derives whether a simulation of one worker can represent all
// workers.

#include "core/custom/values.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxCost = 10'000;

std::int64_t log2_of(std::int64_t value) {
  return std::bit_width(static_cast<std::uint64_t>(value)) - 1;
}
std::int64_t lowest_bit_of(std::int64_t value) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) &
                                   -static_cast<std::uint64_t>(value));
}
bool is_power_of_two(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// REQUIRES: the absolute value of the result is at most kLargestValue.
std::int64_t power_of(std::int64_t base, std::int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

std::int64_t computed(ValueOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ValueOp::kNegate: return -a;
    case ValueOp::kNot: return a == 0 ? 1 : 0;
    case ValueOp::kAdd: return a + b;
    case ValueOp::kSubtract: return a - b;
    case ValueOp::kMultiply: return a * b;
    case ValueOp::kDivide: return floor_divide(a, b);
    case ValueOp::kModulo: return floor_modulo(a, b);
    case ValueOp::kMin: return std::min(a, b);
    case ValueOp::kMax: return std::max(a, b);
    case ValueOp::kAbs: return a < 0 ? -a : a;
    case ValueOp::kPower: return power_of(a, b);
    case ValueOp::kXor: return a ^ b;
    case ValueOp::kLog2: return log2_of(a);
    case ValueOp::kLowestBit: return lowest_bit_of(a);
    case ValueOp::kEqual: return a == b ? 1 : 0;
    case ValueOp::kNotEqual: return a != b ? 1 : 0;
    case ValueOp::kLess: return a < b ? 1 : 0;
    case ValueOp::kLessEqual: return a <= b ? 1 : 0;
    case ValueOp::kAnd: return a != 0 && b != 0 ? 1 : 0;
    case ValueOp::kOr: return a != 0 || b != 0 ? 1 : 0;
    case ValueOp::kConstant:
    case ValueOp::kVariable:
    case ValueOp::kChoose: break;
  }
  return 0;
}

struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Returns the interval from the smallest to the largest of the values; nullopt if it exceeds
/// kLargestValue.
template <class Corners>
std::optional<Interval> around(const Corners& corners) {
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  if (*low < -kLargestValue || *high > kLargestValue) return std::nullopt;
  return Interval{static_cast<std::int64_t>(*low), static_cast<std::int64_t>(*high)};
}

__extension__ using Wide = __int128;

Wide wide_power(Wide base, std::int64_t exponent) {
  Wide result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    result *= base;
    // Stops once the result is beyond the limit, so that no product exceeds 2^120.
    if (result > kLargestValue || result < -kLargestValue || result == 0 || base == 1) break;
    if (base == -1 && i > 1) return exponent % 2 == 0 ? 1 : -1;
  }
  return result;
}

std::optional<Interval> interval_of_power(const Facts& a, const Facts& b) {
  const Wide size = std::max<Wide>(std::max<std::int64_t>(a.high, -a.low), 1);
  const Wide most = wide_power(size, b.high);
  if (a.low >= 0)
    return around(std::array<Wide, 2>{wide_power(a.low, a.low == 0 ? b.high : b.low), most});
  return around(std::array<Wide, 2>{-most, most});
}

std::optional<Interval> interval_of(ValueOp op, const Facts& a, const Facts& b, const Facts& c) {
  switch (op) {
    case ValueOp::kNegate: return Interval{-a.high, -a.low};
    case ValueOp::kAdd:
      return around(std::array<Wide, 2>{Wide{a.low} + b.low, Wide{a.high} + b.high});
    case ValueOp::kSubtract:
      return around(std::array<Wide, 2>{Wide{a.low} - b.high, Wide{a.high} - b.low});
    case ValueOp::kMultiply:
      return around(std::array<Wide, 4>{Wide{a.low} * b.low, Wide{a.low} * b.high,
                                        Wide{a.high} * b.low, Wide{a.high} * b.high});
    case ValueOp::kDivide:
      return around(
          std::array<std::int64_t, 4>{floor_divide(a.low, b.low), floor_divide(a.low, b.high),
                                      floor_divide(a.high, b.low), floor_divide(a.high, b.high)});
    case ValueOp::kModulo:
      if (a.low >= 0 && a.high < b.low) return Interval{a.low, a.high};
      return Interval{0, b.high - 1};
    case ValueOp::kMin: return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
    case ValueOp::kMax: return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
    case ValueOp::kAbs:
      return Interval{a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(a.high, -a.low)};
    case ValueOp::kPower: return interval_of_power(a, b);
    case ValueOp::kXor: {
      const auto bits = std::bit_width(static_cast<std::uint64_t>(std::max(a.high, b.high)));
      return around(std::array<Wide, 2>{Wide{0}, (Wide{1} << bits) - 1});
    }
    case ValueOp::kLog2: return Interval{log2_of(a.low), log2_of(a.high)};
    case ValueOp::kLowestBit: return Interval{1, std::int64_t{1} << log2_of(a.high)};
    case ValueOp::kEqual:
      if (a.high < b.low || b.high < a.low) return Interval{0, 0};
      return Interval{0, 1};
    case ValueOp::kNotEqual:
      if (a.high < b.low || b.high < a.low) return Interval{1, 1};
      return Interval{0, 1};
    case ValueOp::kLess:
      if (a.high < b.low) return Interval{1, 1};
      if (a.low >= b.high) return Interval{0, 0};
      return Interval{0, 1};
    case ValueOp::kLessEqual:
      if (a.high <= b.low) return Interval{1, 1};
      if (a.low > b.high) return Interval{0, 0};
      return Interval{0, 1};
    case ValueOp::kNot:
      if (a.low > 0 || a.high < 0) return Interval{0, 0};
      return Interval{0, 1};
    case ValueOp::kAnd:
      if (a.low == 0 && a.high == 0) return Interval{0, 0};
      if (b.low == 0 && b.high == 0) return Interval{0, 0};
      return Interval{0, 1};
    case ValueOp::kOr:
      if (a.low > 0 || a.high < 0 || b.low > 0 || b.high < 0) return Interval{1, 1};
      return Interval{0, 1};
    case ValueOp::kChoose: return Interval{std::min(b.low, c.low), std::max(b.high, c.high)};
    case ValueOp::kConstant:
    case ValueOp::kVariable: break;
  }
  return Interval{a.low, a.high};
}

/// Returns an error message if the operands are invalid; "" if they are valid.
std::string invalid_operands(ValueOp op, const Facts& a, const Facts& b) {
  switch (op) {
    case ValueOp::kDivide:
    case ValueOp::kModulo:
      if (b.low > 0) return "";
      return fmt::format("the divisor can become {}; it must be at least 1, such as max(1, …)",
                         b.high < 0 || b.low < 0 ? std::max(b.low, -kLargestValue) : 0);
    case ValueOp::kLog2:
    case ValueOp::kLowestBit:
      return a.low >= 1
                 ? ""
                 : fmt::format("the number can become {}; it must be at least 1, such as max(1, …)",
                               a.low);
    case ValueOp::kPower:
      return b.low >= 0 ? ""
                        : fmt::format("the exponent can become {}; it must be at least 0", b.low);
    case ValueOp::kXor:
      if (a.low >= 0 && b.low >= 0) return "";
      return fmt::format("an operand can become {}; both operands must be at least 0",
                         std::min(a.low, b.low));
    default: return "";
  }
}

std::int64_t common(std::int64_t a, std::int64_t b) {
  return a == 0 ? b : b == 0 ? a : std::gcd(a, b);
}

UnderShift normal(Wide step, Wide modulus) {
  if (modulus > kLargestValue) return {false, 0, 0};
  const auto m = static_cast<std::int64_t>(modulus);
  if (m == 0) return {};
  Wide rest = step % modulus;
  if (rest < 0) rest += modulus;
  return {true, static_cast<std::int64_t>(rest), m};
}

UnderShift shift_of(ValueOp op, const Facts& a, const Facts& b, const Facts& c) {
  constexpr UnderShift kUnknown{false, 0, 0};
  if (a.shift.same() && b.shift.same() && c.shift.same()) return {};
  if (!a.shift.known || !b.shift.known || !c.shift.known) return kUnknown;
  switch (op) {
    case ValueOp::kNegate: return normal(-Wide{a.shift.step}, a.shift.modulus);
    case ValueOp::kAdd:
      return normal(Wide{a.shift.step} + b.shift.step, common(a.shift.modulus, b.shift.modulus));
    case ValueOp::kSubtract:
      return normal(Wide{a.shift.step} - b.shift.step, common(a.shift.modulus, b.shift.modulus));
    case ValueOp::kMultiply: {
      const Facts& factor = a.constant() ? a : b;
      const Facts& value = a.constant() ? b : a;
      if (!factor.constant()) return kUnknown;
      const Wide size = factor.low < 0 ? -Wide{factor.low} : Wide{factor.low};
      return normal(Wide{value.shift.step} * factor.low, Wide{value.shift.modulus} * size);
    }
    case ValueOp::kModulo: {
      // If `a` wraps around at its own modulus, `a` modulo `b` must stay the same.
      if (!b.constant() || a.shift.modulus % b.low != 0) return kUnknown;
      const UnderShift rest = normal(a.shift.step, b.low);
      return rest.step == 0 ? UnderShift{} : rest;
    }
    case ValueOp::kDivide:
      if (!b.constant() || a.shift.modulus % b.low != 0 || a.shift.step % b.low != 0)
        return kUnknown;
      return normal(a.shift.step / b.low, a.shift.modulus / b.low);
    case ValueOp::kChoose: return a.shift.same() && b.shift == c.shift ? b.shift : kUnknown;
    default: return kUnknown;
  }
}

UnderExchange exchange_of(ValueOp op, const Facts& a, const Facts& b, const Facts& c) {
  constexpr UnderExchange kUnknown{false, 0, 1};
  const bool power_of_two = b.constant() && is_power_of_two(b.low);
  if (a.exchange.same() && b.exchange.same() && c.exchange.same()) return {true, 0, 1};
  if (!a.exchange.known || !b.exchange.known || !c.exchange.known) return kUnknown;
  const std::int64_t scale = a.exchange.scale;
  switch (op) {
    case ValueOp::kXor: {
      const UnderExchange& moved = a.exchange.same() ? b.exchange : a.exchange;
      return a.exchange.same() || b.exchange.same() ? UnderExchange{true, moved.scale, 1}
                                                    : kUnknown;
    }
    case ValueOp::kMultiply: {
      const Facts& factor = a.constant() ? a : b;
      const Facts& value = a.constant() ? b : a;
      if (!factor.constant() || !is_power_of_two(factor.low)) return kUnknown;
      return {true, value.exchange.scale * factor.low, value.exchange.zeros * factor.low};
    }
    case ValueOp::kModulo:
      if (!power_of_two || scale % b.low != 0) return kUnknown;
      return {true, 0, 1};
    case ValueOp::kDivide:
      if (!power_of_two || scale % b.low != 0) return kUnknown;
      return {true, scale / b.low, 1};
    case ValueOp::kAdd: {
      // `moved` is a multiple of `zeros`. A `fixed` below `zeros` only sets bits that are 0 in
      // `moved`, so the addition has no carry.
      const Facts& moved = a.exchange.same() ? b : a;
      const Facts& fixed = a.exchange.same() ? a : b;
      if (!fixed.exchange.same() || fixed.low < 0 || fixed.high >= moved.exchange.zeros)
        return kUnknown;
      return {true, moved.exchange.scale, 1};
    }
    default: return kUnknown;
  }
}

LinearForm linear_of(ValueOp op, const Facts& a, const Facts& b) {
  LinearForm form;
  if (!a.linear.is || (op != ValueOp::kNegate && !b.linear.is)) return form;
  std::int64_t of_a = 1;
  std::int64_t of_b = 0;
  if (op == ValueOp::kNegate)
    of_a = -1;
  else if (op == ValueOp::kAdd)
    of_b = 1;
  else if (op == ValueOp::kSubtract)
    of_b = -1;
  else if (op == ValueOp::kMultiply && b.constant())
    of_a = b.low;
  else if (op == ValueOp::kMultiply && a.constant())
    of_a = 0, of_b = a.low;
  else
    return form;
  // A coefficient can overflow even if the value is small enough, as in (i - 1000) * 2^59.
  bool overflow = false;
  const auto combined = [&](std::int64_t x, std::int64_t y) {
    std::int64_t product = 0, other = 0, sum = 0;
    overflow = overflow || __builtin_mul_overflow(of_a, x, &product) ||
               __builtin_mul_overflow(of_b, y, &other) ||
               __builtin_add_overflow(product, other, &sum);
    return sum;
  };
  form.base = combined(a.linear.base, b.linear.base);
  for (std::size_t i = 0; i < kSlots; ++i)
    form.coefficients[i] = combined(a.linear.coefficients[i], b.linear.coefficients[i]);
  if (overflow) return {};
  form.is = true;
  return form;
}

}  // namespace

std::int64_t ValueTrees::node(int id, const Variables& variables) const {
  const ValueNode& one = nodes[id];
  switch (one.op) {
    case ValueOp::kConstant: return one.number;
    case ValueOp::kVariable: return variables[one.number];
    case ValueOp::kChoose: return node(node(one.a, variables) != 0 ? one.b : one.c, variables);
    default:
      return computed(one.op, node(one.a, variables), one.b < 0 ? 0 : node(one.b, variables));
  }
}

ValueBuilder::ValueBuilder(std::int64_t ranks, std::int64_t per_node)
    : ranks_(ranks), per_node_(per_node) {}

int ValueBuilder::add(const ValueNode& node, Facts facts) {
  nodes_.push_back(node);
  facts_.push_back(std::move(facts));
  return static_cast<int>(nodes_.size()) - 1;
}

int ValueBuilder::constant(std::int64_t value) {
  Facts facts;
  facts.low = facts.high = value;
  facts.linear.is = true;
  facts.linear.base = value;
  return add({ValueOp::kConstant, -1, -1, -1, value}, std::move(facts));
}

int ValueBuilder::rank() {
  const int id = variable(kRankSlot, 0, ranks_ - 1, true, true);
  Facts& facts = facts_[id];
  facts.shift = normal(per_node_, ranks_);
  const bool powers = is_power_of_two(per_node_) && is_power_of_two(ranks_);
  facts.exchange = {powers, per_node_, 1};
  slots_[kRankSlot] = facts;
  return id;
}

int ValueBuilder::variable(int slot, std::int64_t low, std::int64_t high, bool same_shift,
                           bool same_exchange) {
  if (low >= high) return constant(low);
  Facts facts;
  facts.low = low;
  facts.high = high;
  facts.uses = 1U << slot;
  facts.linear.is = true;
  facts.linear.coefficients[slot] = 1;
  facts.shift.known = same_shift;
  facts.exchange.known = same_exchange;
  slots_[slot] = facts;
  return add({ValueOp::kVariable, -1, -1, -1, slot}, std::move(facts));
}

/// Uses the linear form of a value to narrow its other properties. The linear form can be exact
/// even if the operands' properties are not: i + 1 - i is 1.
void ValueBuilder::sharpen(Facts& facts) const {
  if (!facts.linear.is) return;
  Wide low = facts.linear.base;
  Wide high = facts.linear.base;
  bool same_shift = true;
  bool same_exchange = true;
  facts.uses = 0;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const std::int64_t coefficient = facts.linear.coefficients[slot];
    if (coefficient == 0) continue;
    const Facts& variable = slots_[slot];
    low += Wide{coefficient} * (coefficient > 0 ? variable.low : variable.high);
    high += Wide{coefficient} * (coefficient > 0 ? variable.high : variable.low);
    same_shift = same_shift && variable.shift.same();
    same_exchange = same_exchange && variable.exchange.same();
    facts.uses |= 1U << slot;
  }
  facts.low = static_cast<std::int64_t>(std::max<Wide>(facts.low, low));
  facts.high = static_cast<std::int64_t>(std::min<Wide>(facts.high, high));
  if (same_shift) facts.shift = {};
  if (same_exchange) facts.exchange = {true, 0, facts.exchange.same() ? facts.exchange.zeros : 1};
}

int ValueBuilder::apply(ValueOp op, std::vector<int> operands, const Complain& complain) {
  operands.resize(3, -1);
  static const Facts kNone;
  // Copies the properties, because adding nodes can move them in memory.
  const Facts a = facts(operands[0]);
  const Facts b = operands[1] < 0 ? kNone : facts(operands[1]);
  const Facts c = operands[2] < 0 ? kNone : facts(operands[2]);
  if (const std::string why = invalid_operands(op, a, b); !why.empty()) {
    complain(ProblemCode::kInvalid, why);
    return constant(1);
  }
  const std::optional<Interval> interval = interval_of(op, a, b, c);
  if (!interval) {
    complain(ProblemCode::kTooLarge, "the result can exceed 2^60");
    return constant(1);
  }
  if (op == ValueOp::kChoose && (a.low > 0 || a.high < 0)) return operands[1];
  if (op == ValueOp::kChoose && a.low == 0 && a.high == 0) return operands[2];
  const bool all_constant = a.constant() && b.constant() && op != ValueOp::kChoose;
  if (all_constant) return constant(computed(op, a.low, b.low));
  if (interval->low == interval->high) return constant(interval->low);
  Facts facts;
  facts.low = interval->low;
  facts.high = interval->high;
  facts.uses = a.uses | b.uses | c.uses;
  facts.cost = 1 + a.cost + (operands[1] < 0 ? 0 : b.cost) + (operands[2] < 0 ? 0 : c.cost);
  if (facts.cost > kMaxCost) {
    complain(ProblemCode::kTooLarge,
             fmt::format("evaluating this expression takes more than {} operations", kMaxCost));
    return constant(1);
  }
  facts.shift = shift_of(op, a, b, c);
  facts.exchange = exchange_of(op, a, b, c);
  facts.linear = linear_of(op, a, b);
  sharpen(facts);
  if (facts.constant()) return constant(facts.low);
  return add({op, operands[0], operands[1], operands[2], 0}, std::move(facts));
}

Value ValueBuilder::compact(const LinearForm& linear, int id) {
  Value value;
  value.base = linear.base;
  for (int slot = 0; slot < kSlots && linear.is; ++slot) {
    const std::int64_t coefficient = linear.coefficients[slot];
    if (coefficient == 0) continue;
    if (value.count == static_cast<int>(value.terms.size())) return {0, {}, 0, id};
    value.terms[value.count++] = {slot, coefficient};
  }
  if (!linear.is) value.tree = id;
  return value;
}

Value ValueBuilder::value(int id) const { return compact(facts(id).linear, id); }

bool ValueBuilder::is_rank_plus(int id) const {
  const LinearForm& linear = facts(id).linear;
  if (!linear.is || linear.coefficients[kRankSlot] != 1) return false;
  // If the difference value - rank needed an expression tree, the tree would contain the rank.
  return std::count_if(linear.coefficients.begin(), linear.coefficients.end(),
                       [](auto c) { return c != 0; }) <= 3;
}

Value ValueBuilder::value_without_rank(int id) const {
  LinearForm linear = facts(id).linear;
  linear.coefficients[kRankSlot] = 0;
  return compact(linear, id);
}

}  // namespace tutti::core::custom
