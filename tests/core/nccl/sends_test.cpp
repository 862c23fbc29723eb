// NCCL's sends and receives. The order and portions of messages are compared with cases worked out
// by hand from NCCL's source. The checker proves every schedule. The bytes on every route are
// compared with the bytes that all-to-all, gather, scatter and send-receive have to move.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/nccl/lowering/p2p_batches.h"
#include "core/nccl/lowering/p2p_portions.h"
#include "core/schedule/checker.h"
#include "tests/core/nccl/communicators.h"
#include "tests/core/nccl/proofs.h"

namespace tutti::core::nccl {
namespace {

using test::communicator;
using test::hopper;
using test::hopper_system;

LoweringRequest request(CollectiveKind kind, std::int64_t elements, std::int64_t planned = 0,
                        Rank root = 0) {
  return {kind, {}, DataType::kFloat32, elements, planned, root};
}

/// Returns the channel of a part of the message that rank 0 sends in a round.
int channel(const P2pRounds& rounds, int round, int part) {
  return rounds.channel(0, rounds.sends_to(0, round), part);
}

std::vector<int> deltas(const P2pRounds& rounds) {
  std::vector<int> deltas;
  for (int round = 0; round < rounds.rounds(); ++round) deltas.push_back(rounds.sends_to(0, round));
  return deltas;
}

TEST(P2pRounds, FollowTheDeltasOfNcclsComment) {
  EXPECT_EQ(deltas(P2pRounds(hopper(16, 1))),
            (std::vector<int>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8}));
}

TEST(P2pRounds, EveryRankSendsToAndReceivesFromEveryRankOnce) {
  for (const Version version : {Version{2, 7, 8}, Version{2, 11, 4}, Version{2, 12, 12},
                                Version{2, 17, 1}, Version{2, 18, 3}, Version{2, 21, 5},
                                Version{2, 22, 3}, Version{2, 28, 3}, kDefaultVersion}) {
    for (const auto& [nodes, gpus] :
         {std::pair(1, 7), std::pair(3, 1), std::pair(3, 8), std::pair(5, 6), std::pair(12, 2),
          std::pair(13, 1), std::pair(18, 1)}) {
      const P2pRounds rounds(hopper(nodes, gpus, version));
      for (Rank rank = 0; rank < nodes * gpus; ++rank) {
        std::vector<bool> met(static_cast<std::size_t>(nodes * gpus));
        for (int round = 0; round < rounds.rounds(); ++round) {
          const Rank to = rounds.sends_to(rank, round);
          if (to == P2pRounds::kNoPeer) continue;
          EXPECT_EQ(rounds.receives_from(to, round), rank);
          EXPECT_EQ(rounds.round_of(rank, to), round);
          EXPECT_FALSE(met[to]);
          met[to] = true;
        }
        EXPECT_EQ(std::count(met.begin(), met.end(), true), nodes * gpus) << to_string(version);
      }
    }
  }
}

// Computed by hand from initTransportsRank of 2.21.5 ("schedule delta 0, +1, -1, +2, -2", from both
// sides), and ncclChannelCompute.
TEST(P2pRounds, DeltasAlternateInSignBefore2_22) {
  const P2pRounds rounds(hopper(8, 1, {2, 21, 5}));
  EXPECT_EQ(deltas(rounds), (std::vector<int>{0, 4, 1, 7, 3, 5, 2, 6}));
  // Delta 3 with 4 channels: the channel is the delta with its bits reversed.
  EXPECT_EQ(channel(rounds, 4, 0), 3);
  EXPECT_EQ(channel(rounds, 6, 0), 1);
}

// Computed by hand from ncclGroupEnd of 2.7.8 and 2.8.4, which do not distinguish nodes, and from
// initTransportsRank of 2.18.6.
TEST(P2pRounds, DeltasAreRanksBefore2_12AndSomeRoundsHaveNoPeerFrom2_18To2_21) {
  EXPECT_EQ(deltas(P2pRounds(hopper(2, 3, {2, 7, 8}))), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(deltas(P2pRounds(hopper(2, 3, {2, 8, 4}))), (std::vector<int>{0, 3, 1, 5, 2, 4}));
  EXPECT_EQ(deltas(P2pRounds(hopper(2, 3, {2, 17, 1}))), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  // A node of three ranks has four rounds. Rank 0 has no peer to send to in the last round, and
  // rank 1 has none in the third.
  const P2pRounds rounds(hopper(2, 3, {2, 18, 6}));
  EXPECT_EQ(deltas(rounds), (std::vector<int>{0, 1, 2, -1, 3, 4, 5, -1}));
  EXPECT_EQ(rounds.sends_to(1, 2), P2pRounds::kNoPeer);
  EXPECT_EQ(rounds.sends_to(1, 3), 0);
}

// Computed by hand from ncclChannelCompute of 2.12.12 and ncclTopoComputeP2pChannels. There the
// parts of a message are on distant channels, and successive rounds on adjacent channels.
TEST(P2pRounds, PartsOfAMessageAreOnDistantChannelsBefore2_13) {
  const Communicator comm = hopper(1, 8, {2, 12, 12});
  ASSERT_EQ(comm.p2p.channels, 32);
  EXPECT_EQ(channel(P2pRounds(comm), 3, 0), 3);
  EXPECT_EQ(channel(P2pRounds(comm), 3, 1), 19);
  EXPECT_EQ(channel(P2pRounds(comm), 3, 2), 11);
  EXPECT_EQ(channel(P2pRounds(hopper(1, 8, {2, 13, 4})), 3, 1), 25);
}

// Computed by hand from ncclP2pChannelBaseForRound and ncclP2pChannelForPart.
TEST(P2pRounds, SuccessiveRoundsAreOnDistantChannels) {
  // On one node, the channel is the number of the round with its bits reversed, of 32 channels.
  const P2pRounds one(hopper(1, 8));
  EXPECT_EQ(channel(one, 0, 0), 0);
  EXPECT_EQ(channel(one, 1, 0), 16);
  EXPECT_EQ(channel(one, 1, 3), 19);
  EXPECT_EQ(channel(one, 6, 0), 12);
  EXPECT_EQ(channel(one, 7, 31), (28 + 31) % 32);
  // On several nodes, eight rounds share a channel. The channel of the second node is in the middle
  // of the 16 channels.
  const P2pRounds several(hopper(4, 8));
  EXPECT_EQ(channel(several, 7, 0), 0);
  EXPECT_EQ(channel(several, 8, 0), 8);
  EXPECT_EQ(channel(several, 16, 1), 5);
  // Before 2.28.3, the channels of a message are adjacent.
  const P2pRounds before(hopper(4, 8, {2, 27, 3}));
  EXPECT_EQ(channel(before, 16, 1), 3);
}

void expect(const P2pPortions& found, int parts, std::int64_t chunk, bool ll) {
  EXPECT_EQ(found.parts, parts);
  EXPECT_EQ(found.chunk, chunk);
  EXPECT_EQ(found.ll, ll);
}

// Computed by hand from addP2pToPlan of 2.28.9. Two nodes of 8 GPUs have 16 channels and up to 2
// channels per peer. With 16 ranks, a peer gets one channel as long as that suffices.
TEST(P2pPortions, MatchNccl) {
  const Communicator far = hopper(2, 8);
  ASSERT_EQ(far.p2p.channels, 16);
  ASSERT_EQ(far.p2p.per_peer, 2);
  expect(p2p_portions(far, 65536, true, false), 1, 32768,
         false);  // less than a step of 128 KiB: a quarter
  expect(p2p_portions(far, 131072, true, false), 1, 65536, false);    // less than eight steps: half
  expect(p2p_portions(far, 262144, true, false), 2, 65536, false);    // more than a step each
  expect(p2p_portions(far, 1 << 24, true, false), 2, 131072, false);  // at most two channels
  expect(p2p_portions(far, 32768, false, false), 1, 32768, true);     // LL up to 16 KiB per channel
  expect(p2p_portions(far, 32769, false, false), 1, 131072, false);
  // One node has 32 channels, and a single peer may get all of them. With 4 channels per peer, all
  // 8 ranks have their own channels.
  const Communicator near = hopper(1, 8);
  ASSERT_EQ(near.p2p.channels, 32);
  ASSERT_EQ(near.p2p.per_peer, 32);
  expect(p2p_portions(near, 1, false, false), 1, 32768, true);
  expect(p2p_portions(near, 524288, false, false), 4, 32768, true);
  expect(p2p_portions(near, 1 << 20, false, false), 4, 524288, false);
  expect(p2p_portions(near, 1 << 28, false, false), 16, 524288, false);  // at most 16 MiB each
  // A message of a rank to itself does not use LL.
  expect(p2p_portions(near, 4096, false, true), 1, 524288, false);
}

// Computed by hand from calcP2pChunkSize and ncclProxyComputeP2p of 2.21.5. The size of a part is a
// multiple of 64 KiB, and each part chooses its chunks and protocol by its own size.
TEST(P2pPortions, EachPartChoosesChunksByItsOwnSizeBefore2_22) {
  const Communicator far = hopper(2, 8, {2, 21, 5});
  ASSERT_EQ(far.p2p.per_peer, 2);
  const P2pPortions two = p2p_portions(far, 150'000, true, false);
  expect(two, 2, 65536,
         false);  // two parts of 75000 bytes, rounded up to a multiple of 64 KiB
  EXPECT_EQ(two.part, 131072);
  EXPECT_EQ(two.last_chunk, 32768);
  const P2pPortions one = p2p_portions(far, 16384, false, false);
  expect(one, 1, 32768, true);
  expect(p2p_portions(far, 16385, false, false), 1, 131072, false);
  // On one node, the first parts use Simple, and the remaining 4 KiB use LL.
  const Communicator near = hopper(1, 8, {2, 21, 5});
  const P2pPortions rest = p2p_portions(near, 65536 * 3 + 4096, false, false);
  expect(rest, 4, 524288, false);
  EXPECT_EQ(rest.last_chunk, 32768);
}

// Computed by hand from scheduleP2pTasksToPlan of 2.19.3. Over the network, a peer has two channels
// for any number of ranks, and the size of a part is a multiple of 16 KiB. In one node, the
// channels are divided among the ranks.
TEST(P2pPortions, DoNotDependOnTheNumberOfRanksOverTheNetworkBefore2_20) {
  const Communicator far = hopper(16, 8, {2, 19, 3});
  ASSERT_EQ(far.p2p.per_peer, 2);
  EXPECT_EQ(hopper(16, 8, {2, 20, 5}).p2p.per_peer, 1);
  const P2pPortions small = p2p_portions(far, 20'000, true, false);
  expect(small, 2, 32768, false);
  EXPECT_EQ(small.part, 16384);
  // One node of 8 GPUs has 32 channels, four per rank. A large message gets up to 16 channels, of
  // which each then serves four messages.
  const Communicator near = hopper(1, 8, {2, 19, 3});
  ASSERT_EQ(near.p2p.per_peer, 32);
  EXPECT_EQ(p2p_portions(near, 1 << 20, false, false).parts, 4);
  EXPECT_EQ(p2p_portions(near, std::int64_t{1} << 30, false, false).parts, 16);
}

// Computed by hand from ncclGroupEnd of 2.7.8, getP2pChunkSize of 2.8.4 and 2.12.12, and the
// kernels. Parts are multiples of a slot of 512 KiB, or of four slots in 2.7. A chunk is a quarter
// of a slot.
TEST(P2pPortions, AreWholeSlotsBefore2_13) {
  const auto sizes = [](Version version, std::int64_t bytes, bool far) {
    return p2p_portions(hopper(far ? 2 : 1, 8, version), bytes, far, false);
  };
  ASSERT_EQ(hopper(1, 8, {2, 7, 8}).p2p.per_peer, 32);
  expect(sizes({2, 7, 8}, 1 << 26, false), 32, 131072, false);
  expect(sizes({2, 7, 8}, (1 << 21) + 4, false), 2, 131072, false);
  EXPECT_EQ(sizes({2, 7, 8}, 1 << 26, false).part, 1 << 21);
  // 32 channels for 8 ranks are four each. Larger messages get up to 16 channels of up to 2 MiB.
  expect(sizes({2, 8, 4}, 1 << 20, false), 2, 131072, false);
  expect(sizes({2, 8, 4}, 1 << 23, false), 4, 131072, false);
  expect(sizes({2, 8, 4}, 1 << 24, false), 8, 131072, false);
  expect(sizes({2, 8, 4}, 1 << 28, false), 16, 131072, false);
  // Over the network, a message has one channel. Since 2.9, chunks have half their size if the
  // message has less than eight chunks, and a quarter if it has less than one.
  ASSERT_EQ(hopper(2, 8, {2, 11, 4}).p2p.per_peer, 1);
  expect(sizes({2, 8, 4}, 65536, true), 1, 131072, false);
  expect(sizes({2, 9, 9}, 65536, true), 1, 32768, false);
  expect(sizes({2, 11, 4}, 262144, true), 1, 65536, false);
  expect(sizes({2, 11, 4}, 1 << 24, true), 1, 131072, false);
  ASSERT_EQ(hopper(2, 8, {2, 12, 12}).p2p.per_peer, 2);
}

// Computed by hand from scheduleP2pTasksToPlan of 2.13.4, 2.14.3 and 2.16.5. Parts are multiples of
// an eighth of a chunk.
TEST(P2pPortions, AreMultiplesOfAnEighthOfAChunkSince2_13) {
  expect(p2p_portions(hopper(1, 8, {2, 13, 4}), 16384, false, false), 1, 524288, false);
  expect(p2p_portions(hopper(1, 8, {2, 14, 3}), 16384, false, false), 1, 32768, true);
  expect(p2p_portions(hopper(1, 8, {2, 14, 3}), 1 << 18, false, false), 4, 524288, false);
  const P2pPortions far = p2p_portions(hopper(2, 8, {2, 13, 4}), 20'000, true, false);
  expect(far, 1, 32768, false);
  EXPECT_EQ(far.part, 32768);
  // With GPUs on PCIe, a chunk was a whole slot up to release 2.15.
  System pcie = hopper_system(1, 4);
  pcie.inside = Inside::kPcie;
  EXPECT_EQ(p2p_portions(communicator(pcie, {2, 15, 5}), 1 << 20, false, false).chunk, 524288);
  EXPECT_EQ(p2p_portions(communicator(pcie, {2, 16, 5}), 1 << 20, false, false).chunk, 131072);
}

TEST(P2pPortions, PartsAreAdjacentAndCoverTheMessage) {
  for (const Version version : {Version{2, 7, 8}, Version{2, 8, 4}, Version{2, 13, 4},
                                Version{2, 19, 3}, Version{2, 21, 5}, kDefaultVersion}) {
    for (const Communicator& comm :
         {hopper(1, 8, version), hopper(3, 8, version), hopper(9, 2, version)}) {
      for (const std::int64_t bytes : {0, 4, 4096, 4100, 70'000, 1'000'000, 123'456'788}) {
        for (const bool far : {false, true}) {
          const P2pPortions portions = p2p_portions(comm, bytes, far, false);
          EXPECT_LE(portions.parts, comm.p2p.per_peer);
          std::int64_t end = 0;
          for (int part = 0; part < portions.parts; ++part) {
            const P2pPortions::Bounds one = portions.bounds(bytes, part);
            EXPECT_EQ(one.begin, end);
            EXPECT_TRUE(one.begin % 4096 == 0 || one.begin == bytes);
            end = one.end;
          }
          EXPECT_EQ(end, bytes);
        }
      }
    }
  }
}

constexpr Version kReleases[] = {{2, 7, 8},  {2, 8, 4},  {2, 11, 4},     {2, 12, 12},
                                 {2, 13, 4}, {2, 17, 1}, {2, 18, 6},     {2, 20, 5},
                                 {2, 22, 3}, {2, 28, 3}, kDefaultVersion};

void prove_all(const Communicator& comm, std::initializer_list<std::int64_t> all_planned) {
  for (const CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kGather,
                                    CollectiveKind::kScatter, CollectiveKind::kSendReceive}) {
    const std::int64_t ranks = has_blocks(kind) ? comm.ranks : 1;
    for (const std::int64_t planned : all_planned)
      prove(comm, request(kind, 13 * ranks, planned * ranks, has_root(kind) ? comm.ranks / 2 : 0));
  }
}

TEST(Sends, AreProved) {
  for (const Version version : kReleases) {
    for (const auto& [nodes, gpus] :
         {std::pair(1, 2), std::pair(2, 3), std::pair(5, 1), std::pair(1, 7)})
      prove_all(hopper(nodes, gpus, version), {0, 400'000});
  }
  for (const Version version : {Version{2, 11, 4}, Version{2, 20, 5}, kDefaultVersion}) {
    for (const auto& [nodes, gpus] : {std::pair(1, 8), std::pair(3, 8), std::pair(2, 12)})
      prove_all(hopper(nodes, gpus, version), {30'000});
  }
}

TEST(Sends, RoundsOfOneChannelRunInBatchesOneAfterTheOther) {
  // 40 nodes of one GPU share 4 channels. A channel has ten rounds, of which eight run at the same
  // time. In 2.28.9, these eight are those of one epoch.
  for (const Version version : {Version{2, 7, 8}, Version{2, 8, 4}, Version{2, 17, 1},
                                Version{2, 21, 5}, Version{2, 27, 3}, kDefaultVersion}) {
    const Communicator comm = hopper(40, 1, version);
    ASSERT_EQ(comm.p2p.channels, 4);
    prove(comm, request(CollectiveKind::kAllToAll, 40, 0));
    const auto schedule = lower(comm, request(CollectiveKind::kAllToAll, 40, 0));
    bool waits = false;
    for (Lane lane = 0; lane < (*schedule)->lanes(0); ++lane) {
      for (std::int64_t i = 0; i < (*schedule)->steps(0, lane); ++i)
        waits = waits || (sends((*schedule)->step(0, lane, i).kind) &&
                          (*schedule)->step(0, lane, i).wait.lane >= 0);
    }
    EXPECT_TRUE(waits) << to_string(version);
  }
}

/// Returns the number of elements of all messages by (sender, receiver), including messages that
/// are forwarded.
std::map<std::pair<Rank, Rank>, std::int64_t> sent(const Schedule& schedule) {
  std::map<std::pair<Rank, Rank>, std::int64_t> elements;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
        const Step step = schedule.step(rank, lane, i);
        if (sends(step.kind))
          elements[{rank, step.to.rank(rank, schedule.ranks())}] += step.source.count;
      }
    }
  }
  return elements;
}

TEST(Sends, WithPxnAnAllToAllUsesTheRailOfTheReceiver) {
  const int nodes = 3, gpus = 4;
  const std::int64_t block = 50'000;
  const auto schedule =
      lower(hopper(nodes, gpus), request(CollectiveKind::kAllToAll, nodes * gpus * block));
  ASSERT_TRUE(schedule);
  const auto bytes = sent(**schedule);
  for (Rank from = 0; from < nodes * gpus; ++from) {
    for (Rank to = 0; to < nodes * gpus; ++to) {
      if (from == to) continue;
      const auto found = bytes.find({from, to});
      const std::int64_t elements = found == bytes.end() ? 0 : found->second;
      // Between nodes, a GPU exchanges messages only with the GPUs of its rail, on behalf of all
      // GPUs of its node. Inside a node, each GPU gives every other GPU its own block and the
      // blocks for that GPU's rail on other nodes.
      if (from / gpus != to / gpus) {
        EXPECT_EQ(elements, from % gpus == to % gpus ? gpus * block : 0) << from << " to " << to;
      } else {
        EXPECT_EQ(elements, block * (1 + (nodes - 1))) << from << " to " << to;
      }
    }
  }
}

TEST(Sends, WithoutPxnEveryRankUsesItsOwnNic) {
  Settings settings;
  settings.pxn_disabled = true;
  const int nodes = 3, gpus = 4;
  const std::int64_t block = 50'000;
  const Communicator comm = communicator(hopper_system(nodes, gpus), kDefaultVersion, settings);
  const auto schedule = lower(comm, request(CollectiveKind::kAllToAll, nodes * gpus * block));
  ASSERT_TRUE(schedule);
  const auto bytes = sent(**schedule);
  EXPECT_EQ(bytes.size(), 12U * 11U);
  for (const auto& [way, elements] : bytes) EXPECT_EQ(elements, block);
  prove(comm, request(CollectiveKind::kAllToAll, nodes * gpus * 3));
}

TEST(Sends, WithFourNicsForEightGpusMessagesPassTheFirstGpuOfTheNic) {
  System system = hopper_system(2, 8);
  system.nics = 4;
  const Communicator comm = communicator(system);
  EXPECT_EQ(comm.p2p.relay(0, 5), 4);
  EXPECT_EQ(comm.p2p.relay(5, 5), 4);
  EXPECT_EQ(comm.p2p.relay(4, 4), 4);
  prove(comm, request(CollectiveKind::kAllToAll, 16 * 5));
  const std::int64_t block = 1000;
  const auto schedule = lower(comm, request(CollectiveKind::kAllToAll, 16 * block));
  // Out of a node, the GPU beside each card sends for all eight GPUs, to the two GPUs of the other
  // node on the card's rail.
  for (const auto& [way, elements] : sent(**schedule)) {
    if (way.first / 8 != way.second / 8) {
      EXPECT_EQ(way.first % 8, way.second % 8 / 2 * 2);
      EXPECT_EQ(elements, 8 * block);
    }
  }
}

TEST(Sends, EveryMessageIsSentOnce) {
  const Communicator comm = hopper(1, 6);
  const std::int64_t block = 300'000;
  for (const CollectiveKind kind : {CollectiveKind::kGather, CollectiveKind::kScatter}) {
    const auto bytes = sent(**lower(comm, request(kind, 6 * block, 0, 2)));
    EXPECT_EQ(bytes.size(), 5U);
    for (const auto& [way, elements] : bytes) {
      EXPECT_EQ(kind == CollectiveKind::kGather ? way.second : way.first, 2);
      EXPECT_EQ(elements, block);
    }
  }
  const auto bytes = sent(**lower(comm, request(CollectiveKind::kSendReceive, block)));
  EXPECT_EQ(bytes.size(), 6U);
  for (const auto& [way, elements] : bytes) {
    EXPECT_EQ(way.second, (way.first + 1) % 6);
    EXPECT_EQ(elements, block);
  }
}

TEST(Sends, ALargeMessageUsesNcclsNumberOfChannels) {
  // 1 GiB between 8 GPUs is 128 MiB to each: 8 channels of 16 MiB, with 32 chunks of 512 KiB.
  const Communicator comm = hopper(1, 8);
  const auto schedule = lower(comm, request(CollectiveKind::kAllToAll, std::int64_t{1} << 28));
  ASSERT_TRUE(schedule);
  std::map<Rank, std::int64_t> lanes_to, steps_to;
  for (Lane lane = 0; lane < (*schedule)->lanes(3); ++lane) {
    std::map<Rank, std::int64_t> of_lane;
    for (std::int64_t i = 0; i < (*schedule)->steps(3, lane); ++i) {
      const Step step = (*schedule)->step(3, lane, i);
      if (!sends(step.kind)) continue;
      EXPECT_EQ(step.source.count * 4, 524288);
      ++of_lane[step.to.value];
    }
    for (const auto& [rank, steps] : of_lane) ++lanes_to[rank], steps_to[rank] += steps;
  }
  EXPECT_EQ(lanes_to.size(), 7U);
  for (const auto& [rank, lanes] : lanes_to) EXPECT_EQ(lanes, 8);
  for (const auto& [rank, steps] : steps_to) EXPECT_EQ(steps, 256);
}

}  // namespace
}  // namespace tutti::core::nccl
