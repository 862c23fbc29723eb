// No algorithm is faster than the lower bound from the bytes that have to cross a cut.

#include "core/strategy/collective_bound.h"

#include <gtest/gtest.h>

#include "core/strategy/collective.h"
#include "core/strategy/strategy.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

test::PlainRates plain_rates() {
  test::PlainRates rates;
  rates.link = Bandwidth(10'000'000'000);
  rates.latency = microseconds(1);
  return rates;
}

Time crossing(std::int64_t bytes) {
  return transfer_time(Bytes(bytes), plain_rates().link) + plain_rates().latency;
}

TEST(CollectiveBound, IsTheTimeToSendOrReceiveTheBytesOfADevice) {
  constexpr std::int64_t kBytes = 96'000'000;
  for (const int n : {2, 4, 16}) {
    const auto cluster = test::plain_cluster(n, plain_rates());
    const auto bound = [&](CollectiveKind kind, Rank root = 0) {
      return collective_bound(*cluster, kind, root, Bytes(kBytes)).time;
    };
    for (const auto kind :
         {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
          CollectiveKind::kGather, CollectiveKind::kScatter})
      EXPECT_EQ(bound(kind, n - 1), crossing(kBytes / n * (n - 1))) << to_string(kind) << n;
    for (const auto kind :
         {CollectiveKind::kBroadcast, CollectiveKind::kReduce, CollectiveKind::kSendReceive})
      EXPECT_EQ(bound(kind), crossing(kBytes)) << to_string(kind) << n;
    EXPECT_EQ(bound(CollectiveKind::kAllReduce), all_reduce_bound(*cluster, Bytes(kBytes)).time);
  }
}

TEST(CollectiveBound, NoAlgorithmIsBelowIt) {
  int compared = 0;
  for (const int n : {2, 3, 8}) {
    const auto cluster = test::plain_cluster(n, plain_rates());
    for (const AlgorithmChoice algorithm : algorithms()) {
      for (const CollectiveKind kind : collective_kinds()) {
        for (const Rank root : {0, n - 1}) {
          if (root > 0 && !has_root(kind)) continue;
          Strategy strategy = Strategy::for_algorithm(algorithm);
          strategy.collective = kind;
          strategy.root = root;
          strategy.out_of_place = !can_be_in_place(kind);
          if (!problems_of(strategy, *cluster).empty()) continue;
          for (const std::int64_t each : {1, 1000, 250'000}) {
            const Collective made =
                make_collective(*cluster, strategy, DataType::kFloat32, each * n, 0);
            if (made.nccl) continue;
            const Time bound = collective_bound(*cluster, kind, root, made.bytes()).time;
            EXPECT_LE(bound, sim::run_alone(made, NetworkModel::kFifo).end)
                << to_string(algorithm) << ' ' << to_string(kind) << ' ' << n << ' ' << each;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace tutti::core
