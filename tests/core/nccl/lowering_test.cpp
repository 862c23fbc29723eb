// NCCL's steps: parts and portions against cases worked out from its source, and every schedule
// proved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/nccl/lowering/channel_assignment.h"
#include "core/nccl/lowering/channel_split.h"
#include "core/nccl/lowering/chunks.h"
#include "core/nccl/lowering/lower.h"
#include "core/schedule/checker.h"
#include "tests/core/nccl/communicators.h"
#include "tests/core/nccl/proofs.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using test::hopper;

Choice choice(Algorithm algorithm, Protocol protocol, int channels) {
  return {algorithm, protocol, channels, 512, 0};
}

TEST(ChannelSplit, PartsFollowEachOtherAndAreTheWhole) {
  for (const Function function :
       {Function::kAllReduce, Function::kAllGather, Function::kReduceScatter, Function::kBroadcast,
        Function::kReduce}) {
    for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
      for (const Version version : {Version{2, 22, 3}, Version{2, 24, 3}, Version{2, 29, 2}}) {
        for (const int channels : {1, 2, 3, 8, 24, 32}) {
          for (const std::int64_t count : {1, 7, 4096, 4097, 100'000, 12'345'678}) {
            for (const std::int64_t item : {1, 2, 4, 8}) {
              const auto parts =
                  split_over_channels(function, protocol, version, 8, count, item, channels);
              EXPECT_LE(std::ssize(parts), channels);
              std::int64_t end = 0;
              for (const ChannelPart& part : parts) {
                EXPECT_EQ(part.offset, end);
                EXPECT_GT(part.count, 0);
                end = part.offset + part.count;
              }
              ASSERT_EQ(end, count)
                  << to_string(function) << " " << to_string(protocol) << " " << channels;
            }
          }
        }
      }
    }
  }
}

// By hand, after scheduleCollTasksToPlan of 2.28.9: 16 KiB of traffic is what a channel is worth, 8
// KiB of an all-reduce's buffer.
TEST(ChannelSplit, IsAsNcclDealsOut) {
  const auto of = [](std::int64_t bytes, int channels, Protocol protocol = Protocol::kSimple) {
    return split_over_channels(Function::kAllReduce, protocol, kDefaultVersion, 8, bytes / 4, 4,
                               channels);
  };
  // 64 KiB: 128 KiB of traffic over 24 channels are 5.3 KiB each, less than 16: 8 channels of 8
  // KiB.
  EXPECT_EQ(std::ssize(of(65536, 24)), 8);
  EXPECT_EQ(of(65536, 24)[1], (ChannelPart{2048, 2048}));
  // 1 MiB over 24: 128 cells of 8 KiB, 87381 bytes of traffic each are 6 cells: 21 channels of 6
  // and one of 2.
  const auto one = of(1 << 20, 24);
  EXPECT_EQ(std::ssize(one), 22);
  EXPECT_EQ(one[20].count, 6 * 2048);
  EXPECT_EQ(one[21].count, 2 * 2048);
  // LL counts four times: 64 KiB are 512 KiB of traffic, 21845 B for each of 24; cells of 2 KiB are
  // 16 KiB of it, so that 16 channels get two.
  const auto ll = of(65536, 24, Protocol::kLl);
  EXPECT_EQ(std::ssize(ll), 16);
  EXPECT_EQ(ll[15], (ChannelPart{15 * 1024, 1024}));
}

TEST(Chunks, AreThoseOfNccl) {
  const Communicator comm = hopper(4, 8);
  const auto of = [&](Function function, Algorithm algorithm, Protocol protocol,
                      std::int64_t part) {
    return chunks_of(comm, function, algorithm, protocol, part, 4);
  };
  // Slots of 512 KiB: a ring's chunk is four, a slice two. Trees: one. LL and LL128: what is left
  // of a slot beside flags.
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kRing, Protocol::kSimple, 1 << 28),
            (Chunks{524288, 262144, 4}));
  EXPECT_EQ(of(Function::kBroadcast, Algorithm::kRing, Protocol::kSimple, 1 << 28),
            (Chunks{131072, 131072, 8}));
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kTree, Protocol::kSimple, 1 << 28),
            (Chunks{131072, 131072, 8}));
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kRing, Protocol::kLl, 1 << 28),
            (Chunks{8192, 8192, 8}));
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kRing, Protocol::kLl128, 1 << 28),
            (Chunks{144000, 144000, 8}));
  // NVLSTree over four nodes: at most 64 KiB of each head; of a part of less than 8 x 64 KiB 32
  // KiB.
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kNvlsTree, Protocol::kSimple, 1 << 28).chunk,
            16384);
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kNvlsTree, Protocol::kSimple, 1 << 18).chunk, 8192);
}

// By hand from computeColl of 2.17.1 and 2.18.3: 64 KiB of a head where a channel has less than 32
// times, since 2.18 less than 64 times, 128 KiB of all eight.
TEST(Chunks, OfNvlsShrinkLaterIn2_17) {
  const auto of = [](Version version, std::int64_t part) {
    return chunks_of(hopper(1, 8, version), Function::kAllReduce, Algorithm::kNvls,
                     Protocol::kSimple, part, 1)
        .chunk;
  };
  const std::int64_t all_heads = 8 * 131072;
  EXPECT_EQ(of({2, 17, 1}, 32 * all_heads), 131072);
  EXPECT_EQ(of({2, 17, 1}, 32 * all_heads - 1), 65536);
  EXPECT_EQ(of({2, 18, 3}, 32 * all_heads), 65536);
  EXPECT_EQ(of({2, 18, 3}, 64 * all_heads), 131072);
}

TEST(Lowering, AllReducesAreProved) {
  for (const Version version :
       {Version{2, 17, 1}, Version{2, 18, 3}, Version{2, 21, 5}, kDefaultVersion}) {
    for (const auto& [nodes, gpus] : {std::pair(1, 2), std::pair(1, 8), std::pair(2, 4),
                                      std::pair(3, 2), std::pair(5, 1), std::pair(4, 8)}) {
      if (version < kDefaultVersion && nodes * gpus > 8) continue;
      const Communicator comm = hopper(nodes, gpus, version);
      for (const Algorithm algorithm :
           {Algorithm::kRing, Algorithm::kTree, Algorithm::kNvls, Algorithm::kNvlsTree}) {
        if (algorithm == Algorithm::kNvls && nodes > 1) continue;
        if (algorithm == Algorithm::kNvlsTree && (nodes == 1 || version < Version{2, 18, 0}))
          continue;
        if ((algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree) && gpus == 1)
          continue;
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
          for (const std::int64_t elements : {1, 67, 1031}) {
            for (const std::int64_t planned :
                 {elements, std::int64_t{protocol == Protocol::kLl ? 1'000'000 : 30'000'000}})
              prove(comm, {CollectiveKind::kAllReduce, choice(algorithm, protocol, 4),
                           DataType::kFloat32, elements, planned});
          }
        }
      }
    }
  }
}

TEST(Lowering, RingsOfOtherCollectivesAreProved) {
  for (const Version version : {Version{2, 10, 3}, Version{2, 20, 5}, kDefaultVersion}) {
    for (const auto& [nodes, gpus] :
         {std::pair(1, 2), std::pair(1, 8), std::pair(2, 4), std::pair(3, 1)}) {
      const Communicator comm = hopper(nodes, gpus, version);
      for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                        CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
          for (const std::int64_t blocks : {1, 13, 500}) {
            if (version < kDefaultVersion && blocks > 13) continue;
            for (const std::int64_t planned :
                 {std::int64_t{0}, std::int64_t{1} << (protocol == Protocol::kLl ? 20 : 26)})
              prove(comm, {kind, choice(Algorithm::kRing, protocol, 3), DataType::kFloat32,
                           blocks * comm.ranks, planned, has_root(kind) ? comm.ranks / 2 : 0});
          }
        }
      }
    }
  }
}

TEST(Lowering, NvlsGathersAndScattersAreProved) {
  for (const Version version :
       {Version{2, 17, 1}, Version{2, 19, 4}, Version{2, 21, 5}, kDefaultVersion}) {
    for (const int gpus : {2, 5, 8}) {
      const Communicator comm = hopper(1, gpus, version);
      for (const CollectiveKind kind :
           {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
        for (const std::int64_t block : {1, 67}) {
          for (const std::int64_t planned : {std::int64_t{0}, std::int64_t{1} << 20})
            prove(comm, {kind, choice(Algorithm::kNvls, Protocol::kSimple, 4), DataType::kFloat32,
                         block * gpus, planned * gpus});
        }
      }
    }
  }
}

TEST(Lowering, NvlsMovesEveryBlockOnce) {
  const Communicator comm = hopper(1, 8);
  const std::int64_t block = 1'000'000;
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    const auto schedule = lower(comm, {kind, choice(Algorithm::kNvls, Protocol::kSimple, 16),
                                       DataType::kFloat32, 8 * block, 8 * block});
    ASSERT_TRUE(schedule) << schedule.error().message();
    for (Rank rank = 0; rank < 8; ++rank) {
      std::int64_t multicast = 0, added = 0, received = 0;
      for (Lane lane = 0; lane < (*schedule)->lanes(rank); ++lane) {
        for (std::int64_t i = 0; i < (*schedule)->steps(rank, lane); ++i) {
          const Step step = (*schedule)->step(rank, lane, i);
          if (step.kind == StepKind::kMulticast) multicast += step.source.count;
          if (step.kind == StepKind::kSwitchReduce) added += step.source.count;
          if (step.kind == StepKind::kReceive) received += step.target.count;
        }
      }
      const bool gathers = kind == CollectiveKind::kAllGather;
      EXPECT_EQ(multicast, gathers ? block : 0);
      EXPECT_EQ(received, gathers ? 7 * block : 0);
      EXPECT_EQ(added, gathers ? 0 : block);
    }
  }
}

// By hand, after addCBDCollToPlan of 2.21.5: 4 KiB of Simple, 60 doubles of a warp of LL128, 8
// bytes of a thread of LL.
TEST(DealOut, GivesEvenPartsOfWholePortionsIn2_21) {
  const Communicator comm = hopper(1, 8, {2, 21, 5});
  const auto of = [&](std::int64_t bytes, Protocol protocol) {
    return assign_channels(comm, Function::kAllReduce, choice(Algorithm::kRing, protocol, 24),
                           bytes / 4, bytes / 4, 4);
  };
  // 1 MiB over 24: 43696 B in whole 16, which 11 portions of 4 KiB hold: 23 parts of them and 12288
  // B.
  const auto simple = of(1 << 20, Protocol::kSimple);
  ASSERT_EQ(simple.size(), 24U);
  EXPECT_EQ(simple[0].part, (ChannelPart{0, 11264}));
  EXPECT_EQ(simple[23].part, (ChannelPart{23 * 11264, 3072}));
  // Its only loop: 45056 B for 8 ranks are 5632, in whole 4 KiB two of them: the last two ranks'
  // chunks are empty.
  EXPECT_EQ(simple[0].at(0, 1), (Range{Buffer::kData, 2048, 2048}));
  EXPECT_EQ(simple[0].at(0, 5).count, 1024);
  EXPECT_EQ(simple[0].at(0, 6).count, 0);
  // 512 threads of LL are 4 KiB as well; 16 warps of LL128 7680 B: six of them are a part.
  EXPECT_EQ(of(1 << 20, Protocol::kLl)[1].part, (ChannelPart{11264, 11264}));
  EXPECT_EQ(of(1 << 20, Protocol::kLl128)[1].part, (ChannelPart{11520, 11520}));
}

// By hand, after the kernels of 2.19.4: channels take turns in everything.
TEST(DealOut, GivesTurnsBefore2_20) {
  const Communicator comm = hopper(1, 8, {2, 19, 4});
  const auto of = [&](std::int64_t bytes, Algorithm algorithm, Protocol protocol, int channels,
                      int threads) {
    return assign_channels(comm, Function::kAllReduce, {algorithm, protocol, channels, threads, 0},
                           bytes / 4, bytes / 4, 4);
  };
  // 1 GiB over 4 channels of 8 ranks: loops of 4 x 8 x 2 MiB. Channel 1 of the second: behind 64
  // MiB and channel 0's 16.
  const auto large = of(std::int64_t{1} << 30, Algorithm::kRing, Protocol::kSimple, 4, 544);
  EXPECT_EQ(large[1].loops(), 16);
  EXPECT_EQ(large[1].at(1, 3), (Range{Buffer::kData, (64 + 16 + 6) << 18, 2 << 18}));
  // 1 MiB: 32768 B each, whole 4 KiB of 512 threads' 8 bytes.
  const auto small = of(1 << 20, Algorithm::kRing, Protocol::kSimple, 4, 544);
  EXPECT_EQ(small[3].loops(), 1);
  EXPECT_EQ(small[3].at(0, 7), (Range{Buffer::kData, 31 * 8192, 8192}));
  // LL: chunk 2 of all four channels side by side, 16 KiB of 512 threads' eight bytes four times.
  EXPECT_EQ(of(1 << 19, Algorithm::kRing, Protocol::kLl, 4, 512)[1].at(0, 2),
            (Range{Buffer::kData, 9 * 4096, 4096}));
  // A tree in one node has 7 levels: chunks of 512 KiB shrink to 128 where a channel has less than
  // 56 of them, to 64 under 28, to 32 under 7.
  EXPECT_EQ(of(1 << 27, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 524288);
  EXPECT_EQ(of(1 << 25, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 131072);
  EXPECT_EQ(of(1 << 22, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 65536);
  EXPECT_EQ(of(1 << 19, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 32768);
  // … and where there is but one loop to share: 64 KiB are less than 576 threads' 64 bytes four
  // times, so that two channels have something.
  const auto tree = of(1 << 16, Algorithm::kTree, Protocol::kSimple, 4, 640);
  EXPECT_EQ(tree[1].at(0, 0), (Range{Buffer::kData, 9216, 16384 - 9216}));
  EXPECT_EQ(tree[2].at(0, 0).count, 0);
}

TEST(DealOut, LeavesNothingOut) {
  for (const Version version :
       {Version{2, 6, 4}, Version{2, 9, 9}, Version{2, 12, 10}, Version{2, 19, 4},
        Version{2, 20, 5}, Version{2, 21, 5}, kDefaultVersion}) {
    const Communicator comm = hopper(2, 4, version);
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
      for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
        for (const int threads : {96, 512, 640}) {
          for (const std::int64_t count : {1, 4097, 100'000, 12'345'678}) {
            const auto channels = assign_channels(
                comm, Function::kAllReduce, {algorithm, protocol, 5, threads, 0}, count, count, 2);
            std::vector<Range> all;
            for (const ChannelLoops& channel : channels) {
              for (std::int64_t loop = 0; loop < channel.loops(); ++loop) {
                for (int piece = 0; piece < channel.pieces; ++piece) {
                  if (channel.at(loop, piece).count > 0) all.push_back(channel.at(loop, piece));
                }
              }
            }
            std::sort(all.begin(), all.end());
            std::int64_t end = 0;
            for (const Range& range : all) {
              ASSERT_EQ(range.offset, end) << to_string(version) << " " << to_string(algorithm)
                                           << " " << to_string(protocol);
              end = range.end();
            }
            EXPECT_EQ(end, count);
          }
        }
      }
    }
  }
}

TEST(Lowering, ARealSizeHasNcclsLoops) {
  const Communicator comm = hopper(1, 8);
  const std::int64_t elements = std::int64_t{1} << 28;  // 1 GiB over 24 channels
  const auto ring =
      lower(comm, {CollectiveKind::kAllReduce, choice(Algorithm::kRing, Protocol::kSimple, 24),
                   DataType::kFloat32, elements, elements});
  ASSERT_TRUE(ring);
  EXPECT_EQ((*ring)->lanes(0), 24);
  EXPECT_EQ((*ring)->credits(0, 0), 4);
  // Of 43 MiB a channel's loop has 8 chunks of 2 MiB: three, of 15 primitives of two slices.
  EXPECT_EQ((*ring)->steps(0, 0), 3 * 15 * 2);
  EXPECT_EQ((*ring)->step(0, 0, 0).source.count * 4, 1 << 20);
  const auto tree = lower(
      hopper(4, 8), {CollectiveKind::kAllReduce, choice(Algorithm::kTree, Protocol::kSimple, 16),
                     DataType::kFloat32, elements, elements});
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree)->lanes(0), 2 * 16);
  // Both trees: who is the root of one is not that of the other. Nothing comes down to it.
  int roots = 0;
  for (Rank rank = 0; rank < 32; ++rank) {
    const bool first = (*tree)->steps(rank, 1) == 0;
    const bool last = (*tree)->steps(rank, 31) == 0;
    EXPECT_FALSE(first && last);
    roots += static_cast<int>(first) + static_cast<int>(last);
  }
  EXPECT_EQ(roots, 2);
}

TEST(Lowering, WhatIsNotLoweredSaysSo) {
  const auto why = [](const Communicator& comm, const LoweringRequest& request) {
    return test::kinds_of(lower(comm, request));
  };
  const Choice ring = choice(Algorithm::kRing, Protocol::kSimple, 2);
  EXPECT_THAT(
      why(hopper(1, 8, {2, 7, 8}), {CollectiveKind::kAllToAll, ring, DataType::kFloat32, 64, 64}),
      testing::IsEmpty());
  EXPECT_THAT(
      why(hopper(1, 8, {2, 6, 4}), {CollectiveKind::kAllToAll, ring, DataType::kFloat32, 64, 64}),
      testing::ElementsAre("conflict"));
}

}  // namespace
}  // namespace tutti::core::nccl
