#include "gui/trace/packed_numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/base/random.h"

namespace tutti::gui {
namespace {

TEST(PackedNumbers, ReturnsTheNumbersThatWereAdded) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                         kLargest = std::numeric_limits<std::int64_t>::max();
  for (std::uint64_t bits = 0; bits < 64; ++bits) {
    core::Random random(bits);
    PackedNumbers packed;
    EXPECT_TRUE(packed.empty());
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < 300; ++i) {
      // Blocks of small numbers, of numbers of any size, and with both extremes.
      std::int64_t number = static_cast<std::int64_t>(random.below(std::uint64_t{1} << bits)) - 7;
      if (bits == 63 && i % 50 == 0) number = i % 100 == 0 ? kLeast : kLargest;
      numbers.push_back(number);
      packed.push_back(number);
      EXPECT_EQ(packed[i], number) << "before its block is full";
    }
    packed.shrink_to_fit();
    ASSERT_EQ(packed.size(), numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_EQ(packed[i], numbers[i]) << bits << " bits, number " << i;
  }
}

TEST(PackedNumbers, EqualNumbersTakeAlmostNoMemory) {
  PackedNumbers equal, small;
  for (std::int64_t i = 0; i < 64'000; ++i) {
    equal.push_back(i / 640);
    small.push_back(i % 1000);
  }
  equal.shrink_to_fit();
  small.shrink_to_fit();
  EXPECT_LT(equal.memory(), 64'000u / 4);
  EXPECT_LT(small.memory(), 64'000u * 2) << "10 bits each";
}

}  // namespace
}  // namespace tutti::gui
