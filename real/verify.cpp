#include "real/verify.h"

#include <cmath>

namespace tutti::real {

using core::DataType;

namespace {

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The random bits behind an input (SplitMix64 of the numbers' combination, see core/base/random.h).
std::uint64_t bits_of(std::uint64_t pack_key, core::Rank rank, std::int64_t element) {
  return mixed(pack_key +
               0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(element) * 65'537 + static_cast<std::uint32_t>(rank)));
}

/// Half the distance of neighbouring numbers around 1.
double rounding_unit(DataType type) {
  switch (type) {
    case DataType::kFloat32: return 0x1p-24;
    case DataType::kFloat64: return 0x1p-53;
    case DataType::kFloat16: return 0x1p-11;
    case DataType::kBfloat16: return 0x1p-8;
    default: return 0;
  }
}

/// A float input, rounded to the type. 53 random bits, so that the conversions below round as the elements do.
double float_input(DataType type, std::uint64_t bits) {
  const double value = 0.5 + static_cast<double>(bits >> 11) * 0x1p-53;
  if (type == DataType::kFloat64) return value;
  if (type == DataType::kFloat32) return static_cast<double>(static_cast<float>(value));
  std::uint16_t room = 0;
  set_element(type, &room, 0, value);
  return element_at(type, &room, 0);
}

template <class Integer>
std::optional<WrongElement> find_wrong_integer(std::uint64_t pack_key, std::int64_t elements, std::int32_t contributors,
                                               double factor, const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& results) {
  for (std::int64_t e = 0; e < elements; ++e) {
    std::uint64_t sum = 0;
    for (core::Rank r = 0; r < contributors; ++r) sum += bits_of(pack_key, r, e);
    auto expected = static_cast<Integer>(sum);
    if (factor != 1)
      expected = static_cast<Integer>(static_cast<long double>(expected) * static_cast<long double>(factor));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Integer got = reinterpret_cast<const Integer*>(results[i])[e];
      if (got != expected) return WrongElement{ranks[i], e, static_cast<double>(got), static_cast<double>(expected), 0};
    }
  }
  return std::nullopt;
}

}  // namespace

double input_element(DataType type, std::uint64_t pack_key, core::Rank rank, std::int64_t element) {
  const std::uint64_t bits = bits_of(pack_key, rank, element);
  if (type == DataType::kInt32) return static_cast<double>(static_cast<std::int32_t>(bits));
  if (type == DataType::kInt64) return static_cast<double>(static_cast<std::int64_t>(bits));
  return float_input(type, bits);
}

void fill_inputs(DataType type, std::uint64_t pack_key, core::Rank rank, void* data, std::int64_t elements) {
  for (std::int64_t e = 0; e < elements; ++e) {
    const std::uint64_t bits = bits_of(pack_key, rank, e);
    if (type == DataType::kInt32) {
      static_cast<std::int32_t*>(data)[e] = static_cast<std::int32_t>(bits);
    } else if (type == DataType::kInt64) {
      static_cast<std::int64_t*>(data)[e] = static_cast<std::int64_t>(bits);
    } else {
      set_element(type, data, e, float_input(type, bits));
    }
  }
}

std::optional<WrongElement> find_wrong_sum(DataType type, std::uint64_t pack_key, std::int64_t elements,
                                           std::int32_t contributors, double factor,
                                           const std::vector<core::Rank>& ranks,
                                           const std::vector<const std::byte*>& results) {
  if (type == DataType::kInt32)
    return find_wrong_integer<std::int32_t>(pack_key, elements, contributors, factor, ranks, results);
  if (type == DataType::kInt64)
    return find_wrong_integer<std::int64_t>(pack_key, elements, contributors, factor, ranks, results);
  const double unit = rounding_unit(type);
  for (std::int64_t e = 0; e < elements; ++e) {
    double sum = 0;
    for (core::Rank r = 0; r < contributors; ++r) sum += float_input(type, bits_of(pack_key, r, e));
    const double expected = sum * factor;
    const double tolerance = (contributors + 1) * unit * expected;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const double got = element_at(type, results[i], e);
      if (!(std::abs(got - expected) <= tolerance)) return WrongElement{ranks[i], e, got, expected, tolerance};
    }
  }
  return std::nullopt;
}

}  // namespace tutti::real
