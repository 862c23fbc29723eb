#include "sim/engine/short_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "core/base/random.h"

namespace tutti::sim {
namespace {

TEST(ShortQueue, IsFirstInFirstOutAtEveryLength) {
  core::Random random(3);
  ShortQueue<int> queue;
  std::deque<int> expected;
  for (int i = 0; i < 100'000; ++i) {
    // The queue grows for a while, and then shrinks.
    const bool add = random.below(10) < ((i / 5'000) % 2 == 0 ? 7u : 3u);
    if (add) {
      queue.push_back(i);
      expected.push_back(i);
    } else if (!expected.empty()) {
      ASSERT_EQ(queue.front(), expected.front());
      queue.pop_front();
      expected.pop_front();
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.empty(), expected.empty());
    if (i % 97 == 0) {
      ASSERT_TRUE(std::equal(queue.begin(), queue.end(), expected.begin(), expected.end()));
    }
  }
}

TEST(ShortQueue, ReleasesElementsThatWereRemoved) {
  ShortQueue<std::shared_ptr<int>> queue;
  const auto value = std::make_shared<int>(1);
  for (int i = 0; i < 100; ++i) queue.push_back(value);
  while (!queue.empty()) queue.pop_front();
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace tutti::sim
