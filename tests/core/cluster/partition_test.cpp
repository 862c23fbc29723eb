#include "core/cluster/partition.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tutti::core {
namespace {

/// Returns every partition of a number of replicas.
std::vector<Partition> partitions(std::int64_t replicas) {
  std::vector<Partition> all;
  for (std::int64_t size = 1; size <= replicas; ++size) {
    for (std::int64_t stride = 1; size * stride <= replicas; ++stride) {
      if (replicas % (size * stride) != 0) continue;
      all.push_back({replicas, size, stride, false});
      all.push_back({replicas, size, stride, true});
    }
  }
  return all;
}

TEST(Partition, AssignsEveryReplicaOneRankInTheOrderOfReplicas) {
  for (const std::int64_t replicas : {1, 2, 12, 48, 64}) {
    for (const Partition& p : partitions(replicas)) {
      std::map<std::int64_t, std::int64_t> next;  // of each group
      for (std::int64_t r = 0; r < replicas; ++r) {
        const Partition::Place place = p.place(r);
        EXPECT_EQ(p.replica(place), r);
        EXPECT_EQ(place.rank, next[place.group]++);
      }
      EXPECT_EQ(static_cast<std::int64_t>(next.size()), p.groups());
      for (const auto& [group, size] : next) EXPECT_EQ(size, p.group_size());
    }
  }
}

TEST(Partition, GroupsAcrossThePartitionHaveOneReplicaOfEachGroup) {
  for (const Partition& p : partitions(48)) {
    const Partition across = p.across();
    for (std::int64_t g = 0; g < across.groups(); ++g) {
      std::set<std::int64_t> met;
      for (std::int64_t i = 0; i < across.group_size(); ++i)
        met.insert(p.place(across.replica({g, i})).group);
      EXPECT_EQ(static_cast<std::int64_t>(met.size()), p.groups());
    }
  }
}

TEST(Partition, CountsTheReplicasOfAGroupOnAWorker) {
  for (const Partition& p : partitions(48)) {
    for (const std::int64_t per_worker : {1, 2, 3, 4, 8}) {
      const std::int64_t claimed = p.per_worker(per_worker);
      if (claimed == 1) continue;  // 1 also stands for "differs between workers"
      for (std::int64_t g = 0; g < p.groups(); ++g) {
        std::map<std::int64_t, std::int64_t> on;
        for (std::int64_t i = 0; i < p.group_size(); ++i) ++on[p.replica({g, i}) / per_worker];
        for (const auto& [worker, count] : on)
          EXPECT_EQ(count, claimed) << p.size << " by " << p.stride
                                    << (p.is_across ? " across" : "") << ", " << per_worker;
      }
    }
  }
  EXPECT_EQ((Partition{32, 8, 1, false}.per_worker(8)), 8)
      << "tensor parallelism of whole machines";
  EXPECT_EQ((Partition{32, 8, 1, true}.per_worker(8)), 1) << "… and the data parallelism beside it";
  EXPECT_EQ((Partition{32, 4, 1, true}.per_worker(8)), 2);
}

}  // namespace
}  // namespace tutti::core
