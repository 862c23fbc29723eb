// The checker proves every all-reduce algorithm for odd and even numbers of ranks and elements.
// Further tests compare the numbers of bytes and steps with formulas.

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "core/algorithm/chain.h"
#include "core/algorithm/double_tree.h"
#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/in_switch.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/algorithm/star.h"
#include "core/base/random.h"
#include "core/schedule/checker.h"
#include "core/schedule/stages.h"

namespace tutti::core {
namespace {

using Problems = std::vector<Violation>;

std::vector<std::int64_t> sizes_for(int n) { return {0, 1, n - 1, n, n + 1, 97, 1000}; }

std::vector<Rank> ranks_from(Rank first, int count) {
  std::vector<Rank> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

class Proof : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] int n() const { return GetParam(); }
};

TEST_P(Proof, Ring) {
  for (const std::int64_t e : sizes_for(n())) {
    EXPECT_EQ(check(*ring_all_reduce(n(), e), Contract::all_reduce(n(), e)), Problems()) << e;
  }
}

TEST_P(Proof, RingWithLanesOfDifferentOrdersShortMessagesAndOneSlot) {
  Random random(static_cast<std::uint64_t>(n()));
  for (const int per_worker : {1, 2, 3, 4}) {
    if (n() % per_worker != 0) continue;
    RingOptions options;
    options.lanes.clear();
    for (int lane = 0; lane < 3; ++lane) {
      RingPath path{per_worker, ranks_from(0, per_worker)};
      for (std::size_t i = path.local.size(); i > 1; --i)
        std::swap(path.local[i - 1], path.local[random.below(i)]);
      options.lanes.push_back(std::move(path));
    }
    options.credits = 1;
    for (const std::int64_t most : {1, 3, 1000}) {
      options.max_elements_per_message = most;
      for (const std::int64_t e : sizes_for(n())) {
        EXPECT_EQ(check(*ring_all_reduce(n(), e, options), Contract::all_reduce(n(), e)),
                  Problems())
            << e << ", " << most;
      }
    }
  }
}

TEST_P(Proof, HalvingDoubling) {
  if (!std::has_single_bit(static_cast<unsigned>(n()))) return;
  for (const std::int64_t e : sizes_for(n())) {
    EXPECT_EQ(check(*halving_doubling_all_reduce(n(), e), Contract::all_reduce(n(), e)), Problems())
        << e;
  }
}

TEST_P(Proof, RecursiveDoubling) {
  if (!std::has_single_bit(static_cast<unsigned>(n()))) return;
  for (const std::int64_t e : sizes_for(n())) {
    EXPECT_EQ(check(*recursive_doubling_all_reduce(n(), e), Contract::all_reduce(n(), e)),
              Problems())
        << e;
  }
}

TEST_P(Proof, DoubleTree) {
  for (const std::int64_t e : sizes_for(n())) {
    for (const std::int64_t most : {1, 7, 5000}) {
      for (const bool out_of_place : {false, true}) {
        const Contract contract = Contract::of(CollectiveKind::kAllReduce, n(), e, 0, out_of_place);
        EXPECT_EQ(check(*double_tree_all_reduce(contract, most), contract), Problems())
            << e << ", " << most;
      }
    }
  }
}

TEST_P(Proof, Shuffle) {
  for (const int g : {1, 2, 3, 5}) {
    if (g > n()) continue;
    std::vector<Rank> spread;
    for (int i = 0; i < g; ++i) spread.push_back(i * n() / g);
    const std::vector<Rank> repeated{0, n() / 2, 0};
    for (const std::int64_t e : sizes_for(n())) {
      const Contract contract = Contract::all_reduce(n(), e);
      EXPECT_EQ(check(*shuffle_all_reduce(n() + g, n(), ranks_from(n(), g), e, Engine::kCpu,
                                          Engine::kCpu),
                      contract),
                Problems())
          << e << ", helpers";
      EXPECT_EQ(
          check(*shuffle_all_reduce(n(), n(), spread, e, Engine::kCpu, Engine::kCpu), contract),
          Problems())
          << e << ", contributors";
      EXPECT_EQ(
          check(*shuffle_all_reduce(n(), n(), repeated, e, Engine::kCpu, Engine::kCpu), contract),
          Problems())
          << e << ", a rank twice";
    }
  }
}

TEST_P(Proof, StarChainAndSwitch) {
  const RankSet everyone{0, n(), 1};
  for (const std::int64_t e : sizes_for(n())) {
    for (const Rank root : {0, n() / 2, n() - 1}) {
      const RankSet only{root, 1, 1};
      EXPECT_EQ(
          check(*star_reduce(n(), n(), root, e, Engine::kCpu, Engine::kCpu), {e, everyone, only}),
          Problems());
      EXPECT_EQ(check(*star_broadcast(n(), n(), root, e, Engine::kCpu), {e, only, everyone}),
                Problems());
    }
    EXPECT_EQ(check(*star_reduce(n() + 1, n(), n(), e, Engine::kCpu, Engine::kCpu),
                    {e, everyone, {n(), e > 0 ? 1 : 0, 1}}),
              Problems());
    for (const std::int64_t most : {1, 7, 5000}) {
      EXPECT_EQ(check(*chain_broadcast(n(), e, most, Engine::kCpu), {e, {0, 1, 1}, everyone}),
                Problems());
    }
    EXPECT_EQ(check(*in_switch_all_reduce(n(), e), Contract::all_reduce(n(), e)), Problems()) << e;
  }
}

TEST_P(Proof, StagesInsideWorkers) {
  for (const int per_worker : {1, 2, 3}) {
    for (const std::int64_t e : {std::int64_t{0}, std::int64_t{1}, std::int64_t{97}}) {
      const StageGroup group{n(), per_worker, true};
      const Contract contract = Contract::all_reduce(n() * per_worker, e);
      const std::shared_ptr<const Schedule> up =
          star_reduce(per_worker + 1, per_worker, per_worker, e, Engine::kCopyEngine, Engine::kCpu);
      const std::shared_ptr<const Schedule> down =
          star_broadcast(per_worker + 1, per_worker, per_worker, e, Engine::kCopyEngine);
      const std::shared_ptr<const Schedule> across = shuffle_all_reduce(
          n(), n(), ranks_from(0, std::min(2, n())), e, Engine::kCpu, Engine::kCpu);
      EXPECT_EQ(check(*in_stages(group, e,
                                 {{StageScope::kWorkersWithHost, up},
                                  {StageScope::kHosts, across},
                                  {StageScope::kWorkersWithHost, down}}),
                      contract),
                Problems());
      const std::shared_ptr<const Schedule> inside = ring_all_reduce(per_worker, e);
      const std::shared_ptr<const Schedule> leaders = ring_all_reduce(n(), e);
      const std::shared_ptr<const Schedule> spread =
          chain_broadcast(per_worker, e, 10, Engine::kKernel);
      EXPECT_EQ(check(*in_stages(group, e,
                                 {{StageScope::kInsideWorkers, inside},
                                  {StageScope::kLeaders, leaders},
                                  {StageScope::kInsideWorkers, spread}}),
                      contract),
                Problems());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Proof,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 32),
                         testing::PrintToStringParamName());

// --- counts ---

struct Traffic {
  std::int64_t messages = 0;
  std::int64_t elements = 0;
};

Traffic sent_by(const Schedule& schedule, Rank rank) {
  Traffic traffic;
  for (Lane l = 0; l < schedule.lanes(rank); ++l) {
    for (std::int64_t i = 0; i < schedule.steps(rank, l); ++i) {
      const Step step = schedule.step(rank, l, i);
      if (!sends(step.kind)) continue;
      ++traffic.messages;
      traffic.elements += step.source.count;
    }
  }
  return traffic;
}

TEST(Ring, EveryRankSendsTwoTimesRanksMinusOneChunks) {
  for (const int n : {2, 3, 8, 64}) {
    const std::int64_t e = 1000 * n;
    const auto ring = ring_all_reduce(n, e);
    for (Rank r = 0; r < n; ++r) {
      EXPECT_EQ(sent_by(*ring, r).messages, 2 * (n - 1));
      EXPECT_EQ(sent_by(*ring, r).elements, 2 * (n - 1) * 1000);
    }
  }
}

TEST(Ring, AllRanksTogetherSendEachElementTwiceRanksMinusOneTimes) {
  for (const int n : {2, 3, 5, 8}) {
    for (const std::int64_t e : {1, 2, 4, 7, 100}) {
      const auto ring = ring_all_reduce(n, e);
      std::int64_t total = 0;
      for (Rank r = 0; r < n; ++r) total += sent_by(*ring, r).elements;
      EXPECT_EQ(total, 2 * (n - 1) * e) << n << " ranks, " << e << " elements";
    }
  }
}

TEST(Ring, AScheduleOfAMillionRanksTakesNoMemory) {
  const std::int32_t n = 1 << 20;
  const auto ring = ring_all_reduce(n, std::int64_t{1} << 30);
  EXPECT_EQ(ring->steps(777'777, 0), 2 * std::int64_t{n} - 1);
  const Step middle = ring->step(777'777, 0, n - 1);
  EXPECT_EQ(middle.kind, StepKind::kReceiveReduceCopySend);
  EXPECT_EQ(middle.to.rank(777'777, n), 777'778);
  EXPECT_TRUE(middle.to.relative);
}

TEST(DoubleTree, EachRankAddsInOneTreeAndSendsAtMostTwice) {
  for (const int n : {2, 3, 6, 7, 8, 64, 100}) {
    const auto tree = double_tree_all_reduce(Contract::all_reduce(n, 2000), 100);
    std::int64_t total = 0;
    int in_both = 0;
    for (Rank r = 0; r < n; ++r) {
      EXPECT_LE(sent_by(*tree, r).elements, 2 * 2000) << n << " ranks, rank " << r;
      total += sent_by(*tree, r).elements;
      if (receives(tree->step(r, 0, 0).kind) && receives(tree->step(r, 2, 0).kind)) ++in_both;
    }
    EXPECT_LE(in_both, n % 2) << n << " ranks: with an odd number, the root of the first tree";
    EXPECT_EQ(total, 2 * (n - 1) * 2000)
        << n << " ranks: one message up from, and one down to, each rank except the root";
  }
}

TEST(DoubleTree, HasTwoTimesTheLogarithmOfHopsOverAMillionRanks) {
  const std::int32_t n = 1 << 20;
  const auto tree = double_tree_all_reduce(Contract::all_reduce(n, 1 << 20), 1 << 10);
  int hops = 0;
  for (Rank r = 777'777; tree->steps(r, 1) > 0 && receives(tree->step(r, 1, 0).kind); ++hops)
    r = tree->step(r, 1, 0).from.rank(r, n);
  EXPECT_LE(hops, 20);
  EXPECT_GT(hops, 2);
}

TEST(Shuffle, ContributorsSendTheirBufferOnceAndGatherRanksSendTheSumToAll) {
  const auto shuffle = shuffle_all_reduce(10, 8, {8, 9}, 1001, Engine::kCpu, Engine::kCpu);
  for (Rank r = 0; r < 8; ++r) EXPECT_EQ(sent_by(*shuffle, r).elements, 1001);
  EXPECT_EQ(sent_by(*shuffle, 8).elements, 8 * 500);
  EXPECT_EQ(sent_by(*shuffle, 9).elements, 8 * 501) << "the last piece takes the remainder";
}

TEST(HalvingDoubling, TheLargestMessagesGoToTheNearestRank) {
  const auto hd = halving_doubling_all_reduce(8, 800);
  EXPECT_EQ(hd->step(0, 0, 0).source.count, 400);
  EXPECT_EQ(hd->step(0, 0, 0).to.value, 1);
  EXPECT_EQ(hd->step(0, 0, 4).source.count, 100);
  EXPECT_EQ(hd->step(0, 0, 4).to.value, 4);
}

}  // namespace
}  // namespace tutti::core
