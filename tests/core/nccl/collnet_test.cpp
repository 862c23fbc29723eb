// CollNet algorithms. The checker proves the schedules with the switch as a rank that adds. The
// bytes on NVLink and to the switch are compared with the bytes that each algorithm has to move.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "core/nccl/lowering/chunks.h"
#include "core/schedule/checker.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using test::hopper;

LoweringRequest request(Algorithm algorithm, std::int64_t elements, std::int64_t planned,
                        int channels = 2) {
  return {CollectiveKind::kAllReduce,
          {algorithm, Protocol::kSimple, channels, 640, 0},
          DataType::kFloat32,
          elements,
          planned,
          0};
}

/// Returns a communicator in which `heads` GPUs of each node have a card.
Communicator with_heads(int nodes, int gpus, int heads, Version version = kDefaultVersion) {
  Communicator comm = hopper(nodes, gpus, version);
  Graph& direct = comm.graphs.collnet_direct;
  direct.orders.resize(static_cast<std::size_t>(heads));
  for (int h = 0; h < heads; ++h) {
    std::vector<int>& order = direct.orders[h].gpus;
    order = {h};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (gpu != h) order.push_back(gpu);
    }
  }
  direct.channels = comm.collnet_heads = heads;
  return comm;
}

TEST(CollNet, SchedulesAreProved) {
  for (const Version version : {Version{2, 18, 3}, Version{2, 21, 5}, kDefaultVersion}) {
    for (const auto& [nodes, gpus, heads] :
         {std::tuple(2, 1, 1), std::tuple(2, 8, 8), std::tuple(3, 4, 2), std::tuple(4, 3, 1),
          std::tuple(5, 2, 2)}) {
      const Communicator comm = with_heads(nodes, gpus, heads, version);
      for (const Algorithm algorithm : {Algorithm::kCollNetDirect, Algorithm::kCollNetChain}) {
        for (const std::int64_t elements : {1, 67, 2003}) {
          for (const std::int64_t planned : {elements, std::int64_t{30'000'000}}) {
            const auto schedule = lower(comm, request(algorithm, elements, planned));
            ASSERT_TRUE(schedule) << schedule.error().message();
            EXPECT_EQ(check(**schedule, Contract::all_reduce(comm.ranks, elements)),
                      std::vector<Violation>())
                << to_string(algorithm) << " " << nodes << " x " << gpus << ", " << heads
                << " heads, " << elements << " for " << planned;
          }
        }
      }
    }
  }
}

/// The elements that a rank sends to other ranks of its node (`inside`), and that the switch adds
/// for it (`added`).
struct Moved {
  std::int64_t inside = 0;
  std::int64_t added = 0;
};
std::vector<Moved> moved(const Schedule& schedule) {
  std::vector<Moved> by_rank(static_cast<std::size_t>(schedule.ranks()));
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    Moved& here = by_rank[rank];
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

TEST(CollNet, DirectDividesChunksAmongHeads) {
  // With four GPUs and two heads, one loop of two channels has four chunks. So this number of
  // elements divides evenly.
  const std::int64_t elements = 4 * 32768 / 4 * 100;
  const auto schedule =
      lower(with_heads(3, 4, 2), request(Algorithm::kCollNetDirect, elements, elements));
  ASSERT_TRUE(schedule);
  const std::vector<Moved> all = moved(**schedule);
  for (Rank rank = 0; rank < 12; ++rank) {
    const Moved& here = all[rank];
    const bool head = rank % 4 < 2;
    // To the heads, a GPU sends all elements; a head sends only the other head's half. A head sends
    // the sums of its half to three GPUs.
    EXPECT_EQ(here.inside, head ? elements / 2 + 3 * elements / 2 : elements);
    EXPECT_EQ(here.added, head ? elements / 2 : 0);
  }
}

TEST(CollNet, ChainReducesToTheHeadAndBroadcastsBack) {
  const Communicator comm = hopper(2, 4);
  const std::int64_t elements = 1'000'000;
  const auto schedule = lower(comm, request(Algorithm::kCollNetChain, elements, elements, 1));
  ASSERT_TRUE(schedule);
  const std::vector<Moved> all = moved(**schedule);
  const std::vector<int>& order = comm.graphs.collnet_chain.orders.front().gpus;
  for (Rank rank = 0; rank < 8; ++rank) {
    const Moved& here = all[rank];
    const bool ends = rank % 4 == order.front() || rank % 4 == order.back();
    EXPECT_EQ(here.inside, ends ? elements : 2 * elements);
    EXPECT_EQ(here.added, rank % 4 == order.front() ? elements : 0);
  }
}

// Computed by hand from calcCollChunking of 2.28.9.
TEST(CollNet, SmallBuffersHaveSmallerChunks) {
  const Communicator comm = with_heads(2, 8, 8);
  const auto of = [&](Algorithm algorithm, std::int64_t part) {
    return chunks_of(comm, Function::kAllReduce, algorithm, Protocol::kSimple, part, 4).chunk * 4;
  };
  // CollNetDirect: 8 heads have a chunk each per loop. A chunk has 512 KiB if there are at least
  // 128 loops, 128 KiB if there are at least 16, and otherwise 64 KiB.
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{128} * 8 * 524288), 524288);
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{16} * 8 * 131072), 131072);
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{16} * 8 * 65536), 65536);
  EXPECT_EQ(of(Algorithm::kCollNetDirect, std::int64_t{16} * 8 * 65536 - 1), 32768);
  // CollNetChain: chunks have at most 256 KiB, with eight size levels.
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 64 * 262144), 262144);
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 8 * 131072), 131072);
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 65536), 65536);
  EXPECT_EQ(of(Algorithm::kCollNetChain, std::int64_t{8} * 65536 - 1), 32768);
}

/// Returns a communicator in which all `gpus` of each node are heads. Several GPUs are on switches
/// that multicast.
Communicator all_heads(int nodes, int gpus) { return with_heads(nodes, gpus, gpus); }

LoweringRequest of(CollectiveKind kind, Algorithm algorithm, std::int64_t elements,
                   std::int64_t planned, int channels = 2) {
  LoweringRequest made = request(algorithm, elements, planned, channels);
  made.kind = kind;
  return made;
}

TEST(CollNet, HeadsAreDistributedForAnyOrderOfGpus) {
  Settings on;
  on.collnet = true;
  System s = test::hopper_system(2, 8);
  s.collnet = true;
  for (const int cards : {8, 4, 2}) {
    s.nics = cards;
    const auto counted = uniform_communicator(s, kDefaultVersion, on);
    ASSERT_TRUE(counted);
    // A machine's file may have only one order.
    for (const auto& inside : {std::vector<std::vector<int>>{},
                               std::vector<std::vector<int>>{{3, 2, 1, 0, 7, 6, 5, 4}}}) {
      const Communicator comm = with_orders(*counted, inside);
      const std::vector<int> heads = collnet_heads(comm);
      ASSERT_EQ(std::ssize(heads), cards);
      for (int h = 0; h < cards; ++h) EXPECT_EQ(heads[h], h * 8 / cards);
      std::set<int> ends;
      for (const GraphChannel& chain : comm.graphs.collnet_chain.orders)
        ends.insert(chain.gpus.front());
      EXPECT_EQ(std::ssize(ends), std::min<std::ptrdiff_t>(8, comm.graphs.collnet_chain.channels));
    }
  }
}

TEST(CollNet, NvlsOverSeveralNodesIsProved) {
  for (const Version version : {Version{2, 18, 3}, Version{2, 21, 5}, kDefaultVersion}) {
    for (const auto& [nodes, gpus] :
         {std::pair(2, 2), std::pair(2, 8), std::pair(3, 4), std::pair(5, 3)}) {
      const Communicator comm = hopper(nodes, gpus, version);
      for (const std::int64_t elements : {1, 67, 503}) {
        for (const std::int64_t planned : {elements, std::int64_t{30'000'000}}) {
          const auto schedule = lower(comm, request(Algorithm::kNvls, elements, planned));
          ASSERT_TRUE(schedule) << schedule.error().message();
          EXPECT_EQ(check(**schedule, Contract::all_reduce(comm.ranks, elements)),
                    std::vector<Violation>())
              << nodes << " x " << gpus << ", " << elements << " for " << planned;
        }
      }
    }
  }
}

TEST(CollNet, GathersAndScattersAreProved) {
  for (const Algorithm algorithm : {Algorithm::kCollNetDirect, Algorithm::kNvls}) {
    for (const auto& [nodes, gpus] :
         {std::pair(2, 1), std::pair(2, 5), std::pair(3, 4), std::pair(5, 2)}) {
      if (algorithm == Algorithm::kNvls && gpus == 1) continue;
      const Communicator comm = all_heads(nodes, gpus);
      for (const std::int64_t each : {1, 7, 101}) {
        for (const std::int64_t planned : {each, std::int64_t{3'000'000}}) {
          for (const int channels : {1, 3}) {
            const std::int64_t all = each * comm.ranks;
            const auto gather = lower(comm, of(CollectiveKind::kAllGather, algorithm, all,
                                               planned * comm.ranks, channels));
            const auto scatter = lower(comm, of(CollectiveKind::kReduceScatter, algorithm, all,
                                                planned * comm.ranks, channels));
            ASSERT_TRUE(gather && scatter);
            const std::string where =
                fmt::format("{} {} x {}, blocks of {} for {}, {} channels", to_string(algorithm),
                            nodes, gpus, each, planned, channels);
            EXPECT_EQ(check(**gather,
                            Contract::of(CollectiveKind::kAllGather, comm.ranks, all, 0, false)),
                      std::vector<Violation>())
                << where;
            EXPECT_EQ(check(**scatter, Contract::of(CollectiveKind::kReduceScatter, comm.ranks, all,
                                                    0, false)),
                      std::vector<Violation>())
                << where;
          }
        }
      }
    }
  }
}

/// The elements that leave a rank: sent to single GPUs of its node, multicast in the node, added by
/// the node's switch, sent to the network, and added by the network.
struct Ways {
  std::int64_t inside = 0, multicast = 0, added_inside = 0, to_network = 0, added = 0;
};
Ways ways(const Schedule& schedule, Rank rank, int gpus) {
  Ways made;
  for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
    for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
      const Step step = schedule.step(rank, lane, i);
      const bool between_nodes = step.group.stride == gpus;
      if (step.kind == StepKind::kSwitchReduce)
        (between_nodes ? made.added : made.added_inside) += step.source.count;
      if (step.kind == StepKind::kMulticast)
        (between_nodes ? made.to_network : made.multicast) += step.source.count;
      if (step.kind == StepKind::kSend) made.inside += step.source.count;
    }
  }
  return made;
}

// Computed by hand for N = 3 nodes of g = 4 GPUs. S is the buffer, b = S/12 a block, and a rail has
// 3 b.
TEST(CollNet, BytesMatchAManualCount) {
  constexpr int kNodes = 3, kGpus = 4;
  const Communicator comm = all_heads(kNodes, kGpus);
  const std::int64_t b = 300'000;
  const std::int64_t s = b * comm.ranks;
  const auto lowered = [&](CollectiveKind kind, Algorithm algorithm) {
    const auto made = lower(comm, of(kind, algorithm, s, s));
    EXPECT_TRUE(made);
    return *made;
  };
  for (Rank rank = 0; rank < comm.ranks; ++rank) {
    const Ways reduced = ways(*lowered(CollectiveKind::kAllReduce, Algorithm::kNvls), rank, kGpus);
    EXPECT_NEAR(static_cast<double>(reduced.added), static_cast<double>(s) / kGpus,
                2 * 32768);  // the last loop's chunks are uneven
    EXPECT_EQ(reduced.added, reduced.added_inside);
    EXPECT_EQ(reduced.added, reduced.multicast);
    EXPECT_EQ(reduced.inside, 0);
    EXPECT_EQ(reduced.to_network, 0);

    const Ways gathered =
        ways(*lowered(CollectiveKind::kAllGather, Algorithm::kCollNetDirect), rank, kGpus);
    EXPECT_EQ(gathered.to_network, b);                     // its own block, once
    EXPECT_EQ(gathered.inside, kNodes * b * (kGpus - 1));  // its rail, to each GPU of its node
    const Ways by_switch =
        ways(*lowered(CollectiveKind::kAllGather, Algorithm::kNvls), rank, kGpus);
    EXPECT_EQ(by_switch.to_network, b);
    EXPECT_EQ(by_switch.multicast, kNodes * b);
    EXPECT_EQ(by_switch.inside, 0);

    const Ways scattered =
        ways(*lowered(CollectiveKind::kReduceScatter, Algorithm::kCollNetDirect), rank, kGpus);
    EXPECT_EQ(scattered.inside, kNodes * b * (kGpus - 1));  // to the heads of the other rails
    EXPECT_EQ(scattered.added, b);                          // the network adds its own block
    const Ways added =
        ways(*lowered(CollectiveKind::kReduceScatter, Algorithm::kNvls), rank, kGpus);
    EXPECT_EQ(added.added_inside, kNodes * b);
    EXPECT_EQ(added.added, b);
    EXPECT_EQ(added.inside, 0);
  }
}

// Computed by hand from calcCollChunking of 2.28.9. NCCL's estimate for NVLS is 195 GB/s with 8
// cards of 50 GB/s (tuning), and 96 GB/s with cards of 25 GB/s.
TEST(CollNet, NvlsChunksAreSmallOnASlowNetwork) {
  const auto chunk = [](double card, std::int64_t part) {
    System s = test::hopper_system(8, 8);
    s.collnet = true;
    s.nic_gb_per_s = card;
    Settings on;
    on.collnet = true;
    const Communicator comm = test::communicator(s, kDefaultVersion, on);
    return chunks_of(comm, Function::kAllReduce, Algorithm::kNvls, Protocol::kSimple, part, 4)
               .chunk *
           4;
  };
  const std::int64_t large = std::int64_t{1} << 30;
  EXPECT_EQ(chunk(50, large), 131072);
  EXPECT_EQ(chunk(25, large), 32768);
  EXPECT_EQ(chunk(50, 64 * 8 * 131072 - 1), 65536);
  EXPECT_EQ(chunk(25, 2 * 8 * 32768 - 1), 16384);
}

TEST(CollNet, ReportsUnsupportedOperations) {
  const auto one = lower(hopper(1, 8), request(Algorithm::kCollNetDirect, 64, 64));
  EXPECT_THAT(test::kinds_of(one), testing::ElementsAre("unsupported"));
  EXPECT_TRUE(lower(hopper(2, 8), request(Algorithm::kCollNetDirect, 64, 64))) << "but over two";
  const auto few =
      lower(with_heads(2, 8, 4), of(CollectiveKind::kAllGather, Algorithm::kCollNetDirect, 64, 64));
  EXPECT_THAT(test::kinds_of(few), testing::ElementsAre("unsupported"));
  EXPECT_TRUE(
      lower(hopper(2, 8), of(CollectiveKind::kAllGather, Algorithm::kCollNetDirect, 64, 64)))
      << "but with a head at each GPU";
  const auto chain =
      lower(hopper(2, 8), of(CollectiveKind::kReduceScatter, Algorithm::kCollNetChain, 64, 64));
  EXPECT_THAT(test::kinds_of(chain), testing::ElementsAre("unsupported"));
}

}  // namespace
}  // namespace tutti::core::nccl
