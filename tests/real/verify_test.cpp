#include "real/interpreter/verify.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/random.h"

namespace tutti::real {
namespace {

using core::DataType;
using core::Rank;

struct Buffers {
  explicit Buffers(const Reduced& r, std::int64_t n) : reduced(r), elements(n) {
    for (Rank rank = 0; rank < r.contributors; ++rank) {
      inputs.emplace_back(static_cast<std::size_t>(n * core::size_of(r.type).count()));
      fill_inputs(r, rank, inputs.back().data(), n);
    }
  }
  /// Reduces the inputs in a random order, pairwise or in sequence, as any algorithm might.
  std::vector<std::byte> reduce(std::uint64_t seed) const {
    core::Random random(seed);
    std::vector<std::vector<std::byte>> left = inputs;
    while (left.size() > 1) {
      const std::size_t a = random.below(left.size());
      std::swap(left[a], left.back());
      const std::vector<std::byte> one = std::move(left.back());
      left.pop_back();
      combine(reduced.operation, reduced.type, left[random.below(left.size())].data(), one.data(),
              elements);
    }
    if (reduced.factor != 1) scale(reduced.type, left[0].data(), elements, reduced.factor);
    return left[0];
  }
  [[nodiscard]] std::optional<WrongElement> wrong(const std::vector<std::byte>& result) const {
    return find_wrong_element(reduced, elements, {3}, {result.data()});
  }

  Reduced reduced;
  std::int64_t elements;
  std::vector<std::vector<std::byte>> inputs;
};

template <class Check>
void for_all(Check check) {
  for (const DataType type : core::kDataTypes) {
    for (int o = 0; o < kOperations; ++o) {
      for (const std::int32_t n : {1, 2, 7, 64}) {
        for (const bool mean : {false, true}) {
          if (mean && o != 0) continue;
          const Reduced reduced{type, static_cast<Operation>(o),
                                0x1234567u + static_cast<std::uint64_t>(n), n, mean ? 1.0 / n : 1};
          check(reduced, fmt::format("{}, operation {}, {} ranks{}", core::to_string(type), o, n,
                                     mean ? ", mean" : ""));
        }
      }
    }
  }
}

TEST(Verify, AcceptsAnyOrderOfOperations) {
  for_all([](const Reduced& reduced, const std::string& what) {
    const Buffers buffers(reduced, 1003);
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const auto wrong = buffers.wrong(buffers.reduce(seed));
      EXPECT_FALSE(wrong) << what << ": element " << wrong->element << " is " << wrong->got
                          << ", not " << wrong->expected << " ± " << wrong->tolerance;
    }
  });
}

/// If a rank is missing or contributes twice, most elements are wrong, for every type.
TEST(Verify, FindsAMissingOrRepeatedRank) {
  for_all([](const Reduced& reduced, const std::string& what) {
    if (reduced.contributors == 1) return;
    const bool chooses =
        reduced.operation == Operation::kMin || reduced.operation == Operation::kMax;
    const Buffers whole(reduced, 4001);
    for (const bool doubled : {false, true}) {
      if (doubled && chooses) continue;  // the result does not change
      Buffers buffers = whole;
      if (doubled) {
        buffers.inputs.push_back(buffers.inputs[1]);
      } else {
        buffers.inputs.erase(buffers.inputs.begin() + 1);
      }
      const auto wrong = whole.wrong(buffers.reduce(5));
      ASSERT_TRUE(wrong) << what << (doubled ? ", doubled" : ", missing");
      EXPECT_LT(wrong->element, 1000) << what;
      EXPECT_EQ(wrong->rank, 3);
    }
  });
}

TEST(Verify, FindsThePositionOfAWrongElement) {
  for_all([](const Reduced& reduced, const std::string& what) {
    const Buffers buffers(reduced, 501);
    for (const std::int64_t at : {0, 17, 500}) {
      std::vector<std::byte> result = buffers.reduce(9);
      const double was = element_at(reduced.type, result.data(), at);
      set_element(reduced.type, result.data(), at, was == 0 ? 1 : -was);
      if (reduced.type == DataType::kInt32 || reduced.type == DataType::kInt64)
        result[static_cast<std::size_t>(at) *
               static_cast<std::size_t>(core::size_of(reduced.type).count())] ^= std::byte{1};
      const auto wrong = buffers.wrong(result);
      ASSERT_TRUE(wrong) << what;
      EXPECT_EQ(wrong->element, at) << what;
    }
  });
}

TEST(Verify, RefusesNan) {
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBfloat16}) {
    const Buffers buffers({type, Operation::kSum, 7, 3, 1}, 10);
    std::vector<std::byte> result = buffers.reduce(1);
    set_element(type, result.data(), 4, std::numeric_limits<double>::quiet_NaN());
    const auto wrong = buffers.wrong(result);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->element, 4);
  }
}

TEST(Verify, InputsDifferBetweenRanksElementsAndKeys) {
  const Reduced reduced{DataType::kFloat32, Operation::kSum, 1, 8, 1};
  const Buffers buffers(reduced, 100);
  Reduced other = reduced;
  other.key = 2;
  const Buffers others(other, 100);
  int same = 0;
  for (std::int64_t e = 1; e < 100; ++e) {
    const double here = element_at(reduced.type, buffers.inputs[0].data(), e);
    same += here == element_at(reduced.type, buffers.inputs[1].data(), e);
    same += here == element_at(reduced.type, buffers.inputs[0].data(), e - 1);
    same += here == element_at(reduced.type, others.inputs[0].data(), e);
  }
  EXPECT_EQ(same, 0);
}

}  // namespace
}  // namespace tutti::real
