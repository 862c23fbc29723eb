// An input is a hash (SplitMix64) of the key, the rank and the element. Any process can therefore
// compute the inputs of all ranks, and a missing, doubled or misplaced contribution changes the
// result. The order of additions is unknown. Floats are therefore compared within a tolerance, with
// a reference of higher precision: double for float32, long double for float64. Half-precision
// types have too few bits for a tolerance. The sums of half-precision types are kept below 2^11
// (float16) or 2^8 (bfloat16), where every order of additions gives the exact result.
//
// The cost is one hash per element and contributor. An all-reduce has the same result on all ranks,
// so its expected result is computed once per process. Blocks of 256 elements are computed rank by
// rank, so that the inner loop runs over elements.

#include "real/interpreter/verify.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/check.h"

namespace tutti::real {

using core::DataType;
using core::Rank;

namespace {

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Returns the 64 pseudorandom bits of one input element, a SplitMix64 hash (core/base/random.h) of
/// the key, the rank and the element's index.
std::uint64_t bits_of(std::uint64_t key, Rank rank, std::int64_t element) {
  return mixed(key + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(element) * 65'537 +
                                            static_cast<std::uint32_t>(rank)));
}

/// Returns the number of bits of the type's significand, including the hidden bit.
int significand_bits(DataType type) {
  switch (type) {
    case DataType::kFloat32: return 24;
    case DataType::kFloat64: return 53;
    case DataType::kFloat16: return 11;
    case DataType::kBfloat16: return 8;
    default: return 0;
  }
}

/// True if the operation selects one of its operands (minimum or maximum), so that every result
/// equals one of the inputs.
bool chooses(Operation operation) {
  return operation == Operation::kMin || operation == Operation::kMax;
}
bool is_half(DataType type) { return type == DataType::kFloat16 || type == DataType::kBfloat16; }

/// Returns ±1 for most ranks, ±2 for one rank in sixteen, and ±1/2 for one rank in sixteen (fewer
/// if there are many ranks). Any product is therefore within 2^±13, and exact in both
/// half-precision types.
double half_factor(std::uint64_t bits, const Reduced& reduced, Rank rank, std::int64_t element) {
  const std::int64_t turn =
      (rank + element) % std::max<std::int64_t>(16, reduced.contributors / 12 + 1);
  const double size = turn == 0 ? 2 : turn == 1 ? 0.5 : 1;
  return bits >> 63 ? -size : size;
}

/// Returns an integer that is so small that no partial sum needs more bits than the type has. If
/// there are very many ranks, only a limited number of ranks have a value other than 0, and these
/// ranks differ from element to element.
double half_summand(std::uint64_t bits, const Reduced& reduced, Rank rank, std::int64_t element) {
  const std::int64_t largest_sum = std::int64_t{1} << significand_bits(reduced.type);
  const std::int64_t below = std::max<std::int64_t>(2, largest_sum / reduced.contributors);
  const std::int64_t share = (reduced.contributors + largest_sum - 1) / largest_sum;
  if (share > 1 && (rank + element) % share != 0) return 0;
  return static_cast<double>((bits >> 11) % static_cast<std::uint64_t>(below));
}

/// Returns `value` rounded to the precision of the type. (The two most frequent types have a faster
/// path.)
double rounded(DataType type, double value) {
  if (type == DataType::kFloat64) return value;
  if (type == DataType::kFloat32) return static_cast<double>(static_cast<float>(value));
  std::uint64_t room = 0;
  set_element(type, &room, 0, value);
  return element_at(type, &room, 0);
}

double value_at(DataType type, const std::byte* data, std::int64_t element) {
  if (type == DataType::kFloat32)
    return static_cast<double>(reinterpret_cast<const float*>(data)[element]);
  return element_at(type, data, element);
}

double float_input(const Reduced& reduced, Rank rank, std::int64_t element) {
  const std::uint64_t bits = bits_of(reduced.key, rank, element);
  if (is_half(reduced.type) && !chooses(reduced.operation)) {
    return reduced.operation == Operation::kProduct ? half_factor(bits, reduced, rank, element)
                                                    : half_summand(bits, reduced, rank, element);
  }
  const double share = static_cast<double>(bits >> 11) * 0x1p-53;
  const double value = reduced.operation == Operation::kProduct ? 0.9375 + share / 8 : 0.5 + share;
  return rounded(reduced.type, value);
}

template <class Integer>
Integer integer_input(const Reduced& reduced, Rank rank, std::int64_t element) {
  const std::uint64_t bits = bits_of(reduced.key, rank, element);
  return static_cast<Integer>(reduced.operation == Operation::kProduct ? bits | 1 : bits);
}

template <class Integer>
Integer combined(Operation operation, Integer a, Integer b) {
  using Bits = std::make_unsigned_t<Integer>;  // integers wrap around
  switch (operation) {
    case Operation::kSum: return static_cast<Integer>(static_cast<Bits>(a) + static_cast<Bits>(b));
    case Operation::kProduct:
      return static_cast<Integer>(static_cast<Bits>(a) * static_cast<Bits>(b));
    case Operation::kMin: return std::min(a, b);
    case Operation::kMax: return std::max(a, b);
  }
  return a;
}

template <class Real>
Real combined_reals(Operation operation, Real a, Real b) {
  switch (operation) {
    case Operation::kSum: return a + b;
    case Operation::kProduct: return a * b;
    case Operation::kMin: return std::min(a, b);
    case Operation::kMax: return std::max(a, b);
  }
  return a;
}

using Output = core::Contract::Output;

template <class Integer>
std::optional<WrongElement> find_wrong_integer(const Reduced& reduced, const Output& output,
                                               const std::vector<Rank>& ranks,
                                               const std::vector<const std::byte*>& buffers) {
  for (std::int64_t e = 0; e < output.at.count; ++e) {
    Integer expected = integer_input<Integer>(reduced, output.from.first, output.first + e);
    for (std::int32_t i = 1; i < output.from.count; ++i) {
      expected = combined(reduced.operation, expected,
                          integer_input<Integer>(reduced, output.from.at(i), output.first + e));
    }
    if (reduced.factor != 1)
      expected = static_cast<Integer>(static_cast<long double>(expected) *
                                      static_cast<long double>(reduced.factor));
    const std::int64_t place = output.at.offset + e;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Integer got = reinterpret_cast<const Integer*>(buffers[i])[place];
      if (got != expected)
        return WrongElement{ranks[i], place, static_cast<double>(got),
                            static_cast<double>(expected), 0};
    }
  }
  return std::nullopt;
}

/// Returns how many rounding errors, each of half a unit in the last place, an element of the
/// result may contain.
int roundings(const Reduced& reduced, const Output& output) {
  const bool exact = is_half(reduced.type) || chooses(reduced.operation) || output.from.count == 1;
  if (exact) return reduced.factor == 1 ? 0 : 1;
  return output.from.count + 1;
}

/// Checks the outputs with a reference in `Real`, which has more bits than the type. The
/// reference's own rounding errors are therefore negligible.
template <class Real>
std::optional<WrongElement> find_wrong_real(const Reduced& reduced, const Output& output,
                                            const std::vector<Rank>& ranks,
                                            const std::vector<const std::byte*>& buffers) {
  const double unit = std::ldexp(1, -significand_bits(reduced.type));
  const double bound = roundings(reduced, output) * unit;
  // Work block by block and rank by rank, so that the inputs of several elements are computed
  // together.
  std::array<Real, 256> block;
  for (std::int64_t begin = 0; begin < output.at.count; begin += std::ssize(block)) {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(block), output.at.count - begin);
    for (std::int32_t r = 0; r < output.from.count; ++r) {
      for (std::int64_t i = 0; i < count; ++i) {
        Real& result = block[i];
        const auto input =
            static_cast<Real>(float_input(reduced, output.from.at(r), output.first + begin + i));
        result = r == 0 ? input : combined_reals(reduced.operation, result, input);
      }
    }
    for (std::int64_t e = begin; e < begin + count; ++e) {
      const auto expected =
          static_cast<double>(block[e - begin] * static_cast<Real>(reduced.factor));
      const double tolerance = bound * std::abs(expected);
      const std::int64_t place = output.at.offset + e;
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double got = value_at(reduced.type, buffers[i], place);
        if (!(std::abs(got - expected) <= tolerance))
          return WrongElement{ranks[i], place, got, expected, tolerance};
      }
    }
  }
  return std::nullopt;
}

std::optional<WrongElement> find_wrong(const Reduced& reduced, const Output& output,
                                       const std::vector<Rank>& ranks,
                                       const std::vector<const std::byte*>& buffers) {
  switch (reduced.type) {
    case DataType::kInt32: return find_wrong_integer<std::int32_t>(reduced, output, ranks, buffers);
    case DataType::kInt64: return find_wrong_integer<std::int64_t>(reduced, output, ranks, buffers);
    case DataType::kFloat64: return find_wrong_real<long double>(reduced, output, ranks, buffers);
    default: return find_wrong_real<double>(reduced, output, ranks, buffers);
  }
}

/// If the collective is out of place, checks that the rank's input is unchanged.
std::optional<WrongElement> find_changed_input(const Reduced& reduced,
                                               const core::Contract& contract, Rank rank,
                                               const std::byte* buffer) {
  Output input{contract.input(rank), {rank, 1, 1}, contract.input(rank).offset};
  input.at.offset += contract.input_shift;
  Reduced as_it_was = reduced;
  as_it_was.factor = 1;
  return find_wrong(as_it_was, input, {rank}, {buffer});
}

}  // namespace

void fill_inputs(const Reduced& reduced, Rank rank, void* data, std::int64_t elements,
                 std::int64_t first) {
  TUTTI_CHECK(reduced.contributors >= 1, "{} contributors", reduced.contributors);
  for (std::int64_t e = 0; e < elements; ++e) {
    if (reduced.type == DataType::kInt32) {
      static_cast<std::int32_t*>(data)[e] = integer_input<std::int32_t>(reduced, rank, first + e);
    } else if (reduced.type == DataType::kInt64) {
      static_cast<std::int64_t*>(data)[e] = integer_input<std::int64_t>(reduced, rank, first + e);
    } else {
      set_element(reduced.type, data, e, float_input(reduced, rank, first + e));
    }
  }
}

void fill_inputs(const Reduced& reduced, const core::Contract& contract, Rank rank, void* buffer) {
  const core::Range input = contract.input(rank);
  const std::int64_t offset =
      (input.offset + contract.input_shift) * core::size_of(reduced.type).count();
  fill_inputs(reduced, rank, static_cast<std::byte*>(buffer) + offset, input.count, input.offset);
}

std::optional<WrongElement> find_wrong_element(const Reduced& reduced,
                                               const core::Contract& contract,
                                               const std::vector<Rank>& ranks,
                                               const std::vector<const std::byte*>& buffers) {
  // If all ranks get the same result, compute it once for all ranks of this process.
  if (contract.kind == core::CollectiveKind::kAllReduce) {
    for (const Output& output : contract.outputs(contract.receivers.first)) {
      if (auto wrong = find_wrong(reduced, output, ranks, buffers)) return wrong;
    }
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (contract.kind != core::CollectiveKind::kAllReduce) {
      for (const Output& output : contract.outputs(ranks[i])) {
        if (auto wrong = find_wrong(reduced, output, {ranks[i]}, {buffers[i]})) return wrong;
      }
    }
    if (contract.input_shift == 0) continue;
    if (auto wrong = find_changed_input(reduced, contract, ranks[i], buffers[i])) return wrong;
  }
  return std::nullopt;
}

std::optional<WrongElement> find_wrong_element(const Reduced& reduced, std::int64_t elements,
                                               const std::vector<Rank>& ranks,
                                               const std::vector<const std::byte*>& results) {
  return find_wrong_element(reduced, core::Contract::all_reduce(reduced.contributors, elements),
                            ranks, results);
}

}  // namespace tutti::real
