// CollNet: proved with the switch as what adds, and bytes on NVLink and to the switch against what the algorithms have to move.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/nccl/lowering/chunks.h"
#include "core/schedule/checker.h"
#include "tests/core/nccl/communicators.h"

namespace tutti::core::nccl {
namespace {

using test::hopper;

LoweringRequest request(Algorithm algorithm, std::int64_t elements, std::int64_t planned, int channels = 2) {
  return {CollectiveKind::kAllReduce,
          {algorithm, Protocol::kSimple, channels, 640, 0},
          DataType::kFloat32,
          elements,
          planned,
          0};
}

/// With `heads` GPUs of each node that have a card.
Communicator with_heads(int nodes, int gpus, int heads, Version version = kDefaultVersion) {
  Communicator comm = hopper(nodes, gpus, version);
  Graph& direct = comm.graphs.collnet_direct;
  direct.orders.resize(static_cast<std::size_t>(heads));
  for (int h = 0; h < heads; ++h) {
    std::vector<int>& order = direct.orders[static_cast<std::size_t>(h)].gpus;
    order = {h};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (gpu != h) order.push_back(gpu);
    }
  }
  direct.channels = comm.collnet_heads = heads;
  return comm;
}

TEST(CollNet, IsProved) {
  for (const Version version : {Version{2, 18, 3}, Version{2, 21, 5}, kDefaultVersion}) {
    for (const auto& [nodes, gpus, heads] :
         {std::tuple(2, 1, 1), std::tuple(2, 8, 8), std::tuple(3, 4, 2), std::tuple(4, 3, 1), std::tuple(5, 2, 2)}) {
      const Communicator comm = with_heads(nodes, gpus, heads, version);
      for (const Algorithm algorithm : {Algorithm::kCollNetDirect, Algorithm::kCollNetChain}) {
        for (const std::int64_t elements : {1, 67, 2003}) {
          for (const std::int64_t planned : {elements, std::int64_t{30'000'000}}) {
            const auto schedule = lower(comm, request(algorithm, elements, planned));
            ASSERT_TRUE(schedule) << schedule.error().message();
            EXPECT_EQ(check(**schedule, Contract::all_reduce(comm.ranks, elements)), std::vector<std::string>())
                << to_string(algorithm) << " " << nodes << " x " << gpus << ", " << heads << " heads, " << elements
                << " for " << planned;
          }
        }
      }
    }
  }
}

/// Elements that a rank sends to others of its node, and has the switch add.
struct Moved {
  std::int64_t inside = 0;
  std::int64_t added = 0;
};
std::vector<Moved> moved(const Schedule& schedule) {
  std::vector<Moved> by_rank(static_cast<std::size_t>(schedule.ranks()));
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    Moved& here = by_rank[static_cast<std::size_t>(rank)];
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
        const Step step = schedule.step(rank, lane, i);
        if (step.kind == StepKind::kSwitchReduce) here.added += step.source.count;
        if (sends(step.kind)) here.inside += step.source.count;
      }
    }
  }
  return by_rank;
}

TEST(CollNet, DirectSpreadsChunksOverHeads) {
  // Four GPUs, two heads: a loop of two channels is four chunks, so that this divides evenly.
  const std::int64_t elements = 4 * 32768 / 4 * 100;
  const auto schedule = lower(with_heads(3, 4, 2), request(Algorithm::kCollNetDirect, elements, elements));
  ASSERT_TRUE(schedule);
  const std::vector<Moved> all = moved(**schedule);
  for (Rank rank = 0; rank < 12; ++rank) {
    const Moved& here = all[static_cast<std::size_t>(rank)];
    const bool head = rank % 4 < 2;
    // To the heads: all, or what is the other head's. From a head: the sums of its half to three GPUs.
    EXPECT_EQ(here.inside, head ? elements / 2 + 3 * elements / 2 : elements);
    EXPECT_EQ(here.added, head ? elements / 2 : 0);
  }
}

TEST(CollNet, ChainGoesToTheHeadAndBack) {
  const Communicator comm = hopper(2, 4);
  const std::int64_t elements = 1'000'000;
  const auto schedule = lower(comm, request(Algorithm::kCollNetChain, elements, elements, 1));
  ASSERT_TRUE(schedule);
  const std::vector<Moved> all = moved(**schedule);
  const std::vector<int>& order = comm.graphs.collnet_chain.orders.front().gpus;
  for (Rank rank = 0; rank < 8; ++rank) {
    const Moved& here = all[static_cast<std::size_t>(rank)];
    const bool ends = rank % 4 == order.front() || rank % 4 == order.back();
    EXPECT_EQ(here.inside, ends ? elements : 2 * elements);
    EXPECT_EQ(here.added, rank % 4 == order.front() ? elements : 0);
  }
}

// By hand, after calcCollChunking of 2.28.9.
TEST(CollNet, ChunksShrinkWithTheirNumber) {
  const Communicator comm = with_heads(2, 8, 8);
  const auto of = [&](Algorithm algorithm, std::int64_t part) {
    return chunks_of(comm, Function::kAllReduce, algorithm, Protocol::kSimple, part, 4).chunk * 4;
  };
  // Direct: 8 heads' chunks at once, two levels: 512 KiB from 128 of them on, 128 KiB from 16, else 32.
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{128} * 8 * 524288), 524288);
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{16} * 8 * 131072), 131072);
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{16} * 8 * 65536), 65536);
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{16} * 8 * 65536 - 1), 32768);
  // Chain: at most 256 KiB, eight levels.
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 64 * 262144), 262144);
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 8 * 131072), 131072);
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 65536), 65536);
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 65536 - 1), 32768);
}

TEST(CollNet, WhatIsNotLoweredSaysSo) {
  const auto one = lower(hopper(1, 8), request(Algorithm::kCollNetDirect, 64, 64));
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message(), testing::HasSubstr("CollNet in one node"));
  LoweringRequest gather = request(Algorithm::kCollNetDirect, 64, 64);
  gather.kind = CollectiveKind::kAllGather;
  const auto other = lower(hopper(2, 8), gather);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), testing::HasSubstr("CollNetDirect of AllGather"));
}

}  // namespace
}  // namespace tutti::core::nccl
