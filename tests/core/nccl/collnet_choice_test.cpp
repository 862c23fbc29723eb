// In-network reduction: when NCCL uses it, NCCL's estimates (computed by hand from
// src/graph/tuning.cc of 2.28.9), and NCCL's graphs compared with those of the search.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/nccl/collnet.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/tuning/choice.h"
#include "tests/core/nccl/communicators.h"
#include "tests/reference/nccl/topologies.h"

namespace tutti::core::nccl {
namespace {

Settings on() {
  Settings settings;
  settings.collnet = true;
  return settings;
}

System reducing(int nodes, int gpus = 8) {
  System s = test::hopper_system(nodes, gpus);
  s.collnet = true;
  return s;
}

Communicator hopper_nodes(int nodes, Version version = kDefaultVersion,
                          const Settings& settings = on()) {
  const auto comm = uniform_communicator(reducing(nodes), version, settings);
  EXPECT_TRUE(comm) << comm.error().message();
  return comm.value_or(Communicator());
}

const char* why_not(const Communicator& comm, const Settings& settings, const Operation& operation,
                    Algorithm algorithm) {
  for (const Candidate& one : candidates(comm, tune(comm, settings), operation)) {
    if (one.algorithm == algorithm && one.protocol == Protocol::kSimple)
      return one.off ? one.off : "";
  }
  return "no such candidate";
}

constexpr Algorithm kByNetwork[] = {Algorithm::kCollNetDirect, Algorithm::kCollNetChain,
                                    Algorithm::kNvls};

TEST(CollNetChoice, EstimatesMatchNcclsCostModel) {
  const Communicator comm = hopper_nodes(8);
  const Model model = tune(comm, on());
  const auto expect = [&](Function function, Algorithm algorithm, float latency_us,
                          float gb_per_s) {
    const Entry& entry = model.entry(function, algorithm, Protocol::kSimple);
    EXPECT_EQ(entry.off, nullptr) << entry.off;
    EXPECT_FLOAT_EQ(entry.latency_us, latency_us) << to_string(algorithm) << to_string(function);
    EXPECT_FLOAT_EQ(entry.bandwidth, gb_per_s) << to_string(algorithm) << to_string(function);
  };
  // There are 8 channels of 48 GB/s. CollNetDirect has a card for every GPU. NCCL assumes 85 % of
  // the bandwidth on Hopper, and half of that for an all-reduce. The latency is 2 · (3.7 + 7 · 0.4)
  // + 31 us.
  expect(Function::kAllReduce, Algorithm::kCollNetDirect, 44.0F, 8 * 48 * 0.85F / 2);
  // CollNetChain: half of the bandwidth, and a latency of 2 · 7 · 2.8 + 30 us.
  expect(Function::kAllReduce, Algorithm::kCollNetChain, 69.2F, 8 * 48 / 2.0F);
  // NVLS: the cards' 48 GB/s are less than 40 · 0.85 · 7/8 · 2. NCCL counts 64 of 2 · 63 steps. The
  // latency is 25 + 18 us.
  expect(Function::kAllReduce, Algorithm::kNvls, 43.0F, 8 * 48 * 64 / 126.0F);
  for (const Function half : {Function::kAllGather, Function::kReduceScatter}) {
    expect(half, Algorithm::kCollNetDirect, 44.0F, 8 * 48 * 0.9F);
    expect(half, Algorithm::kNvls, 43.0F, 8 * 40 * 0.85F * 7 / 8 * 7 / 8);
  }
}

TEST(CollNetChoice, UsesInNetworkReductionIfAvailable) {
  const Communicator with = hopper_nodes(8);
  const Communicator without = hopper_nodes(8, kDefaultVersion, {});
  EXPECT_TRUE(with.collnet);
  EXPECT_FALSE(without.collnet);
  const Operation operation{Function::kAllReduce, 1 << 26};
  const auto choice = choose(with, tune(with, on()), operation);
  ASSERT_TRUE(choice);
  EXPECT_TRUE(by_network(choice->algorithm, with.nodes)) << to_string(choice->algorithm);
  EXPECT_FALSE(by_network(choose(without, tune(without, {}), operation)->algorithm, without.nodes));
  for (const Algorithm algorithm : kByNetwork) {
    EXPECT_STREQ(why_not(with, on(), operation, algorithm), "");
    EXPECT_STRNE(why_not(without, {}, operation, algorithm), "");
    EXPECT_STRNE(why_not(without, on(), operation, algorithm), "");
    EXPECT_STRNE(why_not(without, {}, operation, algorithm),
                 why_not(without, on(), operation, algorithm))
        << "explicit settings precede the default of the network";
  }
}

TEST(CollNetChoice, NeedsEnoughNodesWithFewGpusEach) {
  Settings four = on();
  four.collnet_nodes = 4;
  EXPECT_FALSE(hopper_nodes(3, kDefaultVersion, four).collnet);
  EXPECT_TRUE(hopper_nodes(4, kDefaultVersion, four).collnet);
  EXPECT_FALSE(hopper_nodes(1).collnet);
  // With more than 8 GPUs per node, NCCL uses no CollNet before 2.22, only CollNetChain before
  // 2.27, and no CollNet algorithm since 2.27.
  System wide = reducing(2, 16);
  for (const auto& [version, direct, chain] :
       {std::tuple(Version{2, 21, 5}, false, false), std::tuple(Version{2, 26, 2}, false, true),
        std::tuple(kDefaultVersion, false, false)}) {
    const auto comm = uniform_communicator(wide, version, on());
    ASSERT_TRUE(comm);
    const Operation operation{Function::kAllReduce, 1 << 20};
    EXPECT_EQ(*why_not(*comm, on(), operation, Algorithm::kCollNetDirect) == 0, direct)
        << to_string(version);
    EXPECT_EQ(*why_not(*comm, on(), operation, Algorithm::kCollNetChain) == 0, chain)
        << to_string(version);
  }
}

TEST(CollNetChoice, SupportsTheTypesAndOperationsOfSharp) {
  const Communicator ndr = hopper_nodes(4);
  System slow = reducing(4);
  slow.nic_gb_per_s = 25;
  const auto hdr = uniform_communicator(slow, kDefaultVersion, on());
  ASSERT_TRUE(hdr);
  const auto adds = [](const Communicator& comm, ElementType type, Reduction reduction,
                       Function function = Function::kAllReduce) {
    return *why_not(comm, on(), {function, 1 << 20, type, reduction}, Algorithm::kCollNetDirect) ==
           0;
  };
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64, ElementType::kInt64}) {
    EXPECT_TRUE(adds(*hdr, type, Reduction::kSum));
    EXPECT_TRUE(adds(*hdr, type, Reduction::kMean));
    EXPECT_TRUE(adds(*hdr, type, Reduction::kMax));
    EXPECT_FALSE(adds(*hdr, type, Reduction::kProduct));
  }
  for (const ElementType narrow : {ElementType::kBfloat16, ElementType::kInt8}) {
    EXPECT_FALSE(adds(*hdr, narrow, Reduction::kSum));
    EXPECT_TRUE(adds(ndr, narrow, Reduction::kSum));
    EXPECT_TRUE(adds(*hdr, narrow, Reduction::kSum, Function::kAllGather));  // adds nothing
  }
  EXPECT_FALSE(adds(ndr, ElementType::kFloat8e4m3, Reduction::kSum));
}

TEST(CollNetChoice, SharpNeedsInfinibandHdrOrNewer) {
  System s = reducing(2);
  EXPECT_EQ(why_no_sharp(s), "");
  s.nic_gb_per_s = 12.5;
  EXPECT_NE(why_no_sharp(s), "");
  s.nic_gb_per_s = 50;
  s.transport = Transport::kRoce;
  EXPECT_NE(why_no_sharp(s), "");
  s.transport = Transport::kInfiniband;
  EXPECT_EQ(why_no_sharp(s), "");
  EXPECT_NE(why_no_sharp(reducing(1)), "");
}

/// For machines whose cards can reduce, compares graphs built from counts with graphs found by the
/// search.
TEST(CollNetChoice, GraphsMatchThoseOfTheSearch) {
  struct One {
    const char* topology;
    int gpus;
    GpuGeneration generation;
    int compute_capability, nvlinks;
    double nvlink, pcie, card;
    int cards;
    Inside inside = Inside::kNvswitch;
  };
  constexpr One kAll[] = {
      {"dgx1v", 8, GpuGeneration::kVolta, 70, 6, 25, 12, 12.5, 4, Inside::kCubeMesh},
      {"dgx2", 16, GpuGeneration::kVolta, 70, 6, 25, 12, 12.5, 8},
      {"dgxa100", 8, GpuGeneration::kAmpere, 80, 12, 25, 24, 25, 8},
      {"dgxa100", 4, GpuGeneration::kAmpere, 80, 12, 25, 24, 25, 4},
      {"p4d", 8, GpuGeneration::kAmpere, 80, 12, 25, 24, 12.5, 4},
      {"hgxh100", 8, GpuGeneration::kHopper, 90, 18, 25, 48, 50, 8},
      {"hgxh100", 4, GpuGeneration::kHopper, 90, 18, 25, 48, 50, 4},
      {"hgxh100", 1, GpuGeneration::kHopper, 90, 18, 25, 48, 50, 1, Inside::kAlone},
      {"dgxb200", 8, GpuGeneration::kBlackwell, 100, 18, 50, 48, 50, 8}};
  for (const One& one : kAll) {
    SCOPED_TRACE(std::string(one.topology) + " " + std::to_string(one.gpus));
    Topology topology = test::first_gpus(test::topology(one.topology), one.gpus);
    for (TopologyNode& node : topology.nodes) {
      if (node.kind == NodeKind::kNet) node.net.collectives = true;
    }
    const auto theirs = searched_communicator(topology, 8, on());
    ASSERT_TRUE(theirs) << theirs.error().message();
    System s = reducing(8, one.gpus);
    s.generation = one.generation;
    s.compute_capability = one.compute_capability;
    s.inside = one.inside;
    s.nvlinks = one.nvlinks;
    s.nvlink_gb_per_s = one.nvlink;
    s.pcie_gb_per_s = one.pcie;
    s.nics = one.cards;
    s.nic_gb_per_s = one.card;
    const auto ours = uniform_communicator(s, kDefaultVersion, on());
    ASSERT_TRUE(ours) << ours.error().message();
    for (const auto member : {&Graphs::collnet_chain, &Graphs::collnet_direct}) {
      const Graph& a = ours->graphs.*member;
      const Graph& b = theirs->graphs.*member;
      EXPECT_EQ(a.channels, b.channels) << b.id;
      EXPECT_EQ(a.bw_intra, b.bw_intra) << b.id;
      EXPECT_EQ(a.bw_inter, b.bw_inter) << b.id;
      EXPECT_EQ(a.pattern, b.pattern) << b.id;
      EXPECT_EQ(a.type_intra, b.type_intra) << b.id;
    }
    EXPECT_EQ(ours->collnet_heads, theirs->collnet_heads);
    EXPECT_EQ(ours->collnet, theirs->collnet);
    EXPECT_EQ(ours->channels, theirs->channels);
  }
}

}  // namespace
}  // namespace tutti::core::nccl
