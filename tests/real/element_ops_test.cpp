#include "real/elements/element_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "real/elements/kernels.h"
#include "real/elements/small_floats.h"

namespace tutti::real {
namespace {

using core::DataType;

/// Converts float16 according to its definition.
double half_by_definition(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign *
         (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(SmallFloats, EveryHalfHasItsDefinedValueAndConvertsBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const double value = half_by_definition(half.bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(half))) << bits;
      EXPECT_TRUE(std::isnan(to_float(to_half(to_float(half))))) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(to_float(half)), value) << bits;
      EXPECT_EQ(to_half(to_float(half)).bits, half.bits);
    }
  }
}

/// A value between two neighbours rounds to the nearer one, and a value in the middle to the even
/// one. Values at least half a step above the largest number round to infinity.
TEST(SmallFloats, HalvesRoundToTheNearestTiesToEven) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const double low = half_by_definition(static_cast<std::uint16_t>(bits));
    const double high =
        bits + 1 == 0x7c00 ? 65536 : half_by_definition(static_cast<std::uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const auto rounded = [](double v) { return to_half(static_cast<float>(v)).bits; };
    EXPECT_EQ(rounded(low + (high - low) * 0.25), bits);
    EXPECT_EQ(rounded(low + (high - low) * 0.75), bits + 1);
    EXPECT_EQ(rounded(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(rounded(-middle), (bits % 2 == 0 ? bits : bits + 1) | 0x8000);
  }
}

TEST(SmallFloats, BfloatsRoundToTheNearestTiesToEven) {
  for (std::uint32_t upper = 0; upper < 0x7f80; ++upper) {
    const auto rounded = [&](std::uint32_t lower) {
      return to_bfloat(__builtin_bit_cast(float, upper << 16 | lower)).bits;
    };
    EXPECT_EQ(rounded(0), upper);
    EXPECT_EQ(rounded(0x7fff), upper);
    EXPECT_EQ(rounded(0x8001), upper + 1);
    EXPECT_EQ(rounded(0x8000), upper % 2 == 0 ? upper : upper + 1);
  }
  EXPECT_TRUE(std::isnan(to_float(to_bfloat(NAN))));
}

double combined(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::kSum: return a + b;
    case Operation::kProduct: return a * b;
    case Operation::kMin: return std::min(a, b);
    case Operation::kMax: return std::max(a, b);
  }
  return 0;
}

/// The operands are small integers, whose sums and products are exact in every type.
TEST(ElementOps, CombineElementByElementForEveryTypeLengthAndInstructionSet) {
  core::Random random(7);
  for (const DataType type : core::kDataTypes) {
    for (int o = 0; o < kOperations; ++o) {
      const auto operation = static_cast<Operation>(o);
      for (const std::int64_t count : {0, 1, 3, 8, 31, 1000}) {
        std::vector<char> a(static_cast<std::size_t>(8 * count + 8)), b(a.size());
        for (std::int64_t i = 0; i < count; ++i) {
          set_element(type, a.data(), i, static_cast<double>(random.below(15)) - 7);
          set_element(type, b.data(), i, static_cast<double>(random.below(15)) - 7);
        }
        for (const Kernels& kernels : runnable_kernels()) {
          std::vector<char> target = a;
          kernels.combine[o][static_cast<int>(type)](target.data(), target.data(), b.data(), count);
          for (std::int64_t i = 0; i < count; ++i) {
            EXPECT_EQ(
                element_at(type, target.data(), i),
                combined(operation, element_at(type, a.data(), i), element_at(type, b.data(), i)));
          }
        }
        std::vector<char> target(a.size());
        combine_to(operation, type, target.data(), a.data(), b.data(), count);
        combine(operation, type, a.data(), b.data(), count);
        EXPECT_EQ(std::vector<char>(a.begin(), a.begin() + core::size_of(type).count() * count),
                  std::vector<char>(target.begin(),
                                    target.begin() + core::size_of(type).count() * count));
      }
    }
  }
}

TEST(ElementOps, NanPropagatesAndIntegersWrapAround) {
  float floats[] = {NAN, 1, 2, NAN};
  const float others[] = {1, NAN, 3, NAN};
  for (const Operation operation : {Operation::kMin, Operation::kMax, Operation::kSum}) {
    float target[4];
    combine_to(operation, DataType::kFloat32, target, floats, others, 4);
    EXPECT_TRUE(std::isnan(target[0]) && std::isnan(target[1]) && !std::isnan(target[2]) &&
                std::isnan(target[3]));
  }
  std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const std::int32_t one = 1;
  combine(Operation::kSum, DataType::kInt32, &most, &one, 1);
  EXPECT_EQ(most, std::numeric_limits<std::int32_t>::min());
}

TEST(ElementOps, ScaleRoundsIntegersTowardsZero) {
  std::int32_t ints[] = {7, -7, 0, 8};
  scale(DataType::kInt32, ints, 4, 0.25);
  EXPECT_EQ(ints[0], 1);
  EXPECT_EQ(ints[1], -1);
  EXPECT_EQ(ints[3], 2);
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBfloat16}) {
    double room[2];
    set_element(type, room, 0, 5);
    scale(type, room, 1, 0.5);
    EXPECT_EQ(element_at(type, room, 0), 2.5);
  }
}

}  // namespace
}  // namespace tutti::real
