#include "core/schedule/rounds.h"

#include <gtest/gtest.h>

#include "core/algorithm/in_switch.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"

namespace tutti::core {
namespace {

TEST(Rounds, ARingHasTwoForEachOtherRank) {
  for (const std::int32_t n : {2, 3, 8, 33}) {
    const Rounds rounds = rounds_of(*ring_all_reduce(n, 5 * n));
    EXPECT_EQ(rounds.chain, 2 * (n - 1)) << n;
    EXPECT_EQ(rounds.messages, 2 * (n - 1) * n) << n;
    EXPECT_EQ(rounds.most_sent, 2 * (n - 1) * 5) << n;
    EXPECT_EQ(rounds.all_sent, 2 * (n - 1) * 5 * n) << n;
  }
}

TEST(Rounds, RecursiveDoublingHasTheLogarithmOfTheRanks) {
  for (const int log : {1, 2, 3, 5}) {
    const std::int32_t n = 1 << log;
    const Rounds rounds = rounds_of(*recursive_doubling_all_reduce(n, 7, Engine::kKernel));
    EXPECT_EQ(rounds.chain, log) << n;
    EXPECT_EQ(rounds.most_sent, 7 * log) << n;
  }
}

TEST(Rounds, AMulticastIsAMessagePerRankAndASwitchReductionIsOneMessage) {
  // Every rank sends a signal to all others, lets the switch add a shard, and sends the sum.
  const Rounds rounds = rounds_of(*in_switch_all_reduce(4, 8));
  EXPECT_EQ(rounds.chain, 3);
  EXPECT_EQ(rounds.messages, 2 * 4 * 3 + 4);
  EXPECT_EQ(rounds.all_sent, 4 * 8 + 8);
  EXPECT_EQ(rounds.most_sent, 8 + 2);
}

}  // namespace
}  // namespace tutti::core
