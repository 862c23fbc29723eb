#include "core/base/flat_index.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/base/random.h"

namespace tutti::core {
namespace {

TEST(FlatIndex, NumbersKeysInTheOrderOfInsertion) {
  Random random(1);
  FlatIndex index;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> keys;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int32_t> expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::pair key(random.below(300), random.below(300));
    const auto [number, fresh] = index.find_or_add(FlatIndex::hash_of(key.first, key.second),
                                                   [&](std::int32_t n) { return keys[n] == key; });
    if (fresh) keys.push_back(key);
    const auto [known, added] =
        expected.try_emplace(key, static_cast<std::int32_t>(keys.size()) - 1);
    ASSERT_EQ(fresh, added) << i;
    ASSERT_EQ(number, known->second) << i;
  }
  EXPECT_EQ(index.size(), static_cast<std::int32_t>(expected.size()));
}

TEST(FlatIndex, DistinguishesKeysWithEqualHashes) {
  FlatIndex index;
  for (std::int32_t key = 0; key < 100; ++key)
    EXPECT_EQ(index.find_or_add(7, [&](std::int32_t n) { return n == key; }), std::pair(key, true));
  for (std::int32_t key = 0; key < 100; ++key)
    EXPECT_EQ(index.find_or_add(7, [&](std::int32_t n) { return n == key; }),
              std::pair(key, false));
}

/// If the upper halves of the hashes were equal, many keys would share few slots, and a million of
/// them would take minutes.
TEST(FlatIndex, HashesOfSmallNumbersDifferInTheirUpperHalves) {
  std::map<std::uint64_t, int> times;
  for (std::uint64_t a = 0; a < 1000; ++a) {
    for (std::uint64_t b = 0; b < 100; ++b) ++times[FlatIndex::hash_of(a, b) >> 32];
  }
  EXPECT_GT(times.size(), 99'000u);
}

}  // namespace
}  // namespace tutti::core
