// NCCL's collectives as schedule steps. Channel parts and chunks are compared with cases worked out
// by hand from NCCL's source, and the checker proves every schedule.

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

TEST(ChannelSplit, PartsAreAdjacentAndCoverTheBuffer) {
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

// Computed by hand from scheduleCollTasksToPlan of 2.28.9: a channel gets at least 16 KiB of
// traffic, which is 8 KiB of an all-reduce's buffer.
TEST(ChannelSplit, MatchesNcclsChannelAssignment) {
  const auto of = [](std::int64_t bytes, int channels, Protocol protocol = Protocol::kSimple) {
    return split_over_channels(Function::kAllReduce, protocol, kDefaultVersion, 8, bytes / 4, 4,
                               channels);
  };
  // 64 KiB are 128 KiB of traffic. Divided among 24 channels this is 5.3 KiB each, less than 16
  // KiB. So 8 channels get 8 KiB each.
  EXPECT_EQ(std::ssize(of(65536, 24)), 8);
  EXPECT_EQ(of(65536, 24)[1], (ChannelPart{2048, 2048}));
  // 1 MiB over 24 channels is 128 cells of 8 KiB. 87381 bytes of traffic per channel are 6 cells,
  // so 21 channels get 6 cells and one gets 2.
  const auto one = of(1 << 20, 24);
  EXPECT_EQ(std::ssize(one), 22);
  EXPECT_EQ(one[20].count, 6 * 2048);
  EXPECT_EQ(one[21].count, 2 * 2048);
  // LL counts traffic four times: 64 KiB are 512 KiB of traffic, or 21845 bytes for each of 24
  // channels. A cell of 2 KiB is 16 KiB of traffic, so 16 channels get two cells each.
  const auto ll = of(65536, 24, Protocol::kLl);
  EXPECT_EQ(std::ssize(ll), 16);
  EXPECT_EQ(ll[15], (ChannelPart{15 * 1024, 1024}));
}

TEST(Chunks, MatchNccl) {
  const Communicator comm = hopper(4, 8);
  const auto of = [&](Function function, Algorithm algorithm, Protocol protocol,
                      std::int64_t part) {
    return chunks_of(comm, function, algorithm, protocol, part, 4);
  };
  // Slots have 512 KiB. On rings with Simple, a chunk has four slots and a slice two. On trees, a
  // chunk has one slot. With LL and LL128, a chunk is the part of a slot that flags do not occupy.
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
  // NVLSTree over four nodes: at most 64 KiB per head, or 32 KiB if the part has less than 8 x 64
  // KiB.
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kNvlsTree, Protocol::kSimple, 1 << 28).chunk,
            16384);
  EXPECT_EQ(of(Function::kAllReduce, Algorithm::kNvlsTree, Protocol::kSimple, 1 << 18).chunk, 8192);
}

// Computed by hand from computeColl of 2.17.1 and 2.18.3. The chunk of a head has 64 KiB if a
// channel has less than 32 times 128 KiB of all eight heads. Since 2.18 the limit is 64 times.
TEST(Chunks, NvlsChunksShrinkAtLargerSizesIn2_17) {
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

TEST(Lowering, NvlsSendsEveryBlockOnce) {
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

// Computed by hand from addCBDCollToPlan of 2.21.5. A portion is 4 KiB with Simple, 60 doubles per
// warp with LL128, and 8 bytes per thread with LL.
TEST(ChannelAssignment, AssignsEqualNumbersOfPortionsIn2_21) {
  const Communicator comm = hopper(1, 8, {2, 21, 5});
  const auto of = [&](std::int64_t bytes, Protocol protocol) {
    return assign_channels(comm, Function::kAllReduce, choice(Algorithm::kRing, protocol, 24),
                           bytes / 4, bytes / 4, 4);
  };
  // 1 MiB over 24 channels is 43696 bytes, rounded to 16. So a part has 11 portions of 4 KiB. 23
  // channels get such a part, and the last channel gets 12288 bytes.
  const auto simple = of(1 << 20, Protocol::kSimple);
  ASSERT_EQ(simple.size(), 24U);
  EXPECT_EQ(simple[0].part, (ChannelPart{0, 11264}));
  EXPECT_EQ(simple[23].part, (ChannelPart{23 * 11264, 3072}));
  // The part has one loop: 45056 bytes for 8 ranks are 5632 bytes each, rounded up to two portions
  // of 4 KiB. So the chunks of the last two ranks are empty.
  EXPECT_EQ(simple[0].at(0, 1), (Range{Buffer::kData, 2048, 2048}));
  EXPECT_EQ(simple[0].at(0, 5).count, 1024);
  EXPECT_EQ(simple[0].at(0, 6).count, 0);
  // With LL, a portion of 512 threads is 4 KiB as well. With LL128, a portion of 16 warps is 7680
  // bytes, and a part has six of them.
  EXPECT_EQ(of(1 << 20, Protocol::kLl)[1].part, (ChannelPart{11264, 11264}));
  EXPECT_EQ(of(1 << 20, Protocol::kLl128)[1].part, (ChannelPart{11520, 11520}));
}

// Computed by hand from the kernels of 2.19.4, in which channels take turns in every loop.
TEST(ChannelAssignment, AssignsChannelsRoundRobinBefore2_20) {
  const Communicator comm = hopper(1, 8, {2, 19, 4});
  const auto of = [&](std::int64_t bytes, Algorithm algorithm, Protocol protocol, int channels,
                      int threads) {
    return assign_channels(comm, Function::kAllReduce, {algorithm, protocol, channels, threads, 0},
                           bytes / 4, bytes / 4, 4);
  };
  // 1 GiB over 4 channels of 8 ranks: a loop has 4 x 8 x 2 MiB. Channel 1 of the second loop starts
  // after 64 MiB of the first loop and the 16 MiB of channel 0.
  const auto large = of(std::int64_t{1} << 30, Algorithm::kRing, Protocol::kSimple, 4, 544);
  EXPECT_EQ(large[1].loops(), 16);
  EXPECT_EQ(large[1].at(1, 3), (Range{Buffer::kData, (64 + 16 + 6) << 18, 2 << 18}));
  // 1 MiB: 32768 bytes per chunk, a multiple of 4 KiB (8 bytes for each of 512 threads).
  const auto small = of(1 << 20, Algorithm::kRing, Protocol::kSimple, 4, 544);
  EXPECT_EQ(small[3].loops(), 1);
  EXPECT_EQ(small[3].at(0, 7), (Range{Buffer::kData, 31 * 8192, 8192}));
  // LL: chunk 2 of all four channels is contiguous, and has 16 KiB (four times eight bytes for each
  // of 512 threads).
  EXPECT_EQ(of(1 << 19, Algorithm::kRing, Protocol::kLl, 4, 512)[1].at(0, 2),
            (Range{Buffer::kData, 9 * 4096, 4096}));
  // A tree in one node has 7 levels. Chunks shrink from 512 KiB to 128 KiB if a channel has less
  // than 56 of them, to 64 KiB below 28, and to 32 KiB below 7.
  EXPECT_EQ(of(1 << 27, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 524288);
  EXPECT_EQ(of(1 << 25, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 131072);
  EXPECT_EQ(of(1 << 22, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 65536);
  EXPECT_EQ(of(1 << 19, Algorithm::kTree, Protocol::kSimple, 4, 640)[0].chunks.chunk * 4, 32768);
  // If there is only one loop, the channels share it. 64 KiB are less than four times 64 bytes for
  // each of 576 threads, so only two channels have data.
  const auto tree = of(1 << 16, Algorithm::kTree, Protocol::kSimple, 4, 640);
  EXPECT_EQ(tree[1].at(0, 0), (Range{Buffer::kData, 9216, 16384 - 9216}));
  EXPECT_EQ(tree[2].at(0, 0).count, 0);
}

TEST(ChannelAssignment, AssignsEveryElement) {
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

TEST(Lowering, ALargeBufferHasNcclsNumberOfLoops) {
  const Communicator comm = hopper(1, 8);
  const std::int64_t elements = std::int64_t{1} << 28;  // 1 GiB over 24 channels
  const auto ring =
      lower(comm, {CollectiveKind::kAllReduce, choice(Algorithm::kRing, Protocol::kSimple, 24),
                   DataType::kFloat32, elements, elements});
  ASSERT_TRUE(ring);
  EXPECT_EQ((*ring)->lanes(0), 24);
  EXPECT_EQ((*ring)->credits(0, 0), 4);
  // Each channel has 43 MiB, and one of its loops has 8 chunks of 2 MiB. So there are three loops
  // of 15 primitives with two slices each.
  EXPECT_EQ((*ring)->steps(0, 0), 3 * 15 * 2);
  EXPECT_EQ((*ring)->step(0, 0, 0).source.count * 4, 1 << 20);
  const auto tree = lower(
      hopper(4, 8), {CollectiveKind::kAllReduce, choice(Algorithm::kTree, Protocol::kSimple, 16),
                     DataType::kFloat32, elements, elements});
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree)->lanes(0), 2 * 16);
  // The two trees have different roots. A root receives nothing on the way down.
  int roots = 0;
  for (Rank rank = 0; rank < 32; ++rank) {
    const bool first = (*tree)->steps(rank, 1) == 0;
    const bool last = (*tree)->steps(rank, 31) == 0;
    EXPECT_FALSE(first && last);
    roots += static_cast<int>(first) + static_cast<int>(last);
  }
  EXPECT_EQ(roots, 2);
}

TEST(Lowering, ReportsUnsupportedOperations) {
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
