// The gradient buckets of PyTorch DDP, DeepSpeed, Megatron and BytePS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/base/random.h"
#include "core/framework/byteps/byteps.h"
#include "core/framework/deepspeed/deepspeed.h"
#include "core/framework/megatron/megatron.h"
#include "core/framework/pytorch/pytorch_ddp.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Buckets = std::vector<std::vector<int>>;

std::vector<BucketGradient> floats(const std::vector<std::int64_t>& elements) {
  std::vector<BucketGradient> gradients;
  for (const std::int64_t n : elements) gradients.push_back({n, DataType::kFloat32});
  return gradients;
}

Buckets ddp(const std::vector<std::int64_t>& elements, std::int64_t first, std::int64_t cap) {
  return buckets_of_ddp(floats(elements), Bytes(first), Bytes(cap));
}

TEST(DdpBuckets, AreClosedOnceTheyReachTheCap) {
  EXPECT_EQ(ddp({10, 10, 10, 10, 10}, 80, 80), (Buckets{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(ddp({10, 10, 10, 10, 10}, 81, 81), (Buckets{{0, 1, 2}, {3, 4}})) << "one overshoots";
  EXPECT_EQ(ddp({1000, 1, 1}, 8, 8), (Buckets{{0}, {1, 2}}));
}

TEST(DdpBuckets, TheFirstBucketHasItsOwnCap) {
  EXPECT_EQ(ddp({10, 10, 10, 10, 10}, 1, 80), (Buckets{{0}, {1, 2}, {3, 4}}));
}

// The result of torch._C._compute_bucket_assignment_by_size (PyTorch 2.2.2) for the six parameters
// of a stack of linear layers, with limits of 1 MiB.
TEST(DdpBuckets, MatchPyTorch) {
  EXPECT_EQ(ddp({262144, 512, 262144, 512, 262144, 512}, 1 << 20, 1 << 20),
            (Buckets{{0}, {1, 2}, {3, 4}, {5}}));
}

TEST(DdpBuckets, EveryTypeHasItsOwnBucketsAndIncompleteOnesAreClosedAtTheEnd) {
  const std::vector<BucketGradient> gradients{{10, DataType::kFloat32},
                                              {10, DataType::kFloat16},
                                              {10, DataType::kFloat32},
                                              {30, DataType::kFloat16},
                                              {1, DataType::kFloat32}};
  EXPECT_EQ(buckets_of_ddp(gradients, Bytes(80), Bytes(80)), (Buckets{{0, 2}, {1, 3}, {4}}));
  EXPECT_EQ(buckets_of_ddp(gradients, Bytes(1000), Bytes(1000)), (Buckets{{0, 2, 4}, {1, 3}}));
}

TEST(DeepSpeedBuckets, ExceedTheLimitOnlyWithOneGradient) {
  EXPECT_EQ(buckets_of_deepspeed(floats({4, 4, 4, 2}), 8), (Buckets{{0, 1}, {2, 3}}));
  EXPECT_EQ(buckets_of_deepspeed(floats({4, 100, 4, 4}), 8), (Buckets{{0}, {1}, {2, 3}}));
  EXPECT_EQ(buckets_of_deepspeed(floats({8, 8}), 8), (Buckets{{0}, {1}}));
}

TEST(MegatronBuckets, AreClosedOnceTheyReachTheSize) {
  EXPECT_EQ(buckets_of_megatron(floats({4, 4, 4, 2}), 8), (Buckets{{0, 1}, {2, 3}}));
  EXPECT_EQ(buckets_of_megatron(floats({4, 4, 4, 2}), 9), (Buckets{{0, 1, 2}, {3}}));
  EXPECT_EQ(buckets_of_megatron(floats({3, 3, 3}), 1), (Buckets{{0}, {1}, {2}}))
      << "bucket_size=True";
  const std::vector<BucketGradient> mixed{
      {4, DataType::kFloat16}, {4, DataType::kFloat32}, {4, DataType::kFloat16}};
  EXPECT_EQ(buckets_of_megatron(mixed, 100), (Buckets{{0, 2}, {1}})) << "a buffer per type";
}

TEST(MegatronBuckets, DefaultSizeGrowsWithTheReplicas) {
  EXPECT_EQ(usual_megatron_bucket(8), 40'000'000);
  EXPECT_EQ(usual_megatron_bucket(64), 64'000'000);
}

TEST(BytePsPartitions, DivideATensorAndAreRoundedUpToPagesPerGpu) {
  EXPECT_THAT(partitions_of_byteps({10, DataType::kFloat32}, Bytes(16)), ElementsAre(4, 4, 2));
  EXPECT_THAT(partitions_of_byteps({8, DataType::kFloat16}, Bytes(16)), ElementsAre(8));
  EXPECT_THAT(partitions_of_byteps({0, DataType::kFloat32}, Bytes(16)), IsEmpty());
  EXPECT_EQ(byteps_partition(Bytes(4'096'000), 8), Bytes(4'096'000)) << "125 times 32 KiB";
  EXPECT_EQ(byteps_partition(Bytes(4'096'001), 8), Bytes(4'096'000 + 32'768));
}

TEST(EveryBucketRule, PutsEveryGradientIntoOneBucketOfItsType) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    std::vector<BucketGradient> gradients(1 + random.below(40));
    for (BucketGradient& g : gradients)
      g = {static_cast<std::int64_t>(random.below(1000)),
           random.below(4) == 0 ? DataType::kFloat16 : DataType::kFloat32};
    const auto limit = static_cast<std::int64_t>(1 + random.below(3000));
    for (const Buckets& buckets :
         {buckets_of_ddp(gradients, Bytes(limit / 4 + 1), Bytes(limit)),
          buckets_of_deepspeed(gradients, limit), buckets_of_megatron(gradients, limit)}) {
      std::vector<int> all;
      for (const std::vector<int>& bucket : buckets) {
        ASSERT_FALSE(bucket.empty());
        EXPECT_TRUE(std::is_sorted(bucket.begin(), bucket.end()));
        for (const int i : bucket) {
          EXPECT_EQ(gradients[i].type, gradients[bucket.front()].type);
        }
        all.insert(all.end(), bucket.begin(), bucket.end());
      }
      std::sort(all.begin(), all.end());
      std::vector<int> expected(gradients.size());
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tutti::core
