#include "core/nccl/search/uniform_graphs.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/nccl/search/cube_mesh.h"
#include "core/nccl/search/search.h"
#include "tests/core/nccl/golden.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using test::communicator_of;
using test::nccl_case;

/// Returns a machine of the golden cases, according to its data sheet.
System machine(const std::string& name, int nodes, int gpus) {
  System s;
  s.nodes = nodes;
  s.gpus = gpus;
  s.transport = Transport::kInfiniband;
  const auto cards = [&](int all, double gb_per_s) {
    s.nics = gpus == 1 ? 1 : std::min(all, gpus);
    s.nic_gb_per_s = gb_per_s;
  };
  if (name == "dgx1v" || name == "dgx2") {
    s.generation = GpuGeneration::kVolta;
    s.compute_capability = 70;
    s.inside = name == "dgx1v" ? Inside::kCubeMesh : Inside::kNvswitch;
    s.nvlinks = 6;
    s.pcie_gb_per_s = 12;
    cards(name == "dgx1v" ? 4 : 8, 12.5);
  } else if (name == "dgxa100" || name == "p4d") {
    s.cpu = name == "p4d" ? HostCpu::kIntel : HostCpu::kAmd;
    name == "p4d" ? cards(4, 12.5) : cards(8, 25);
  } else if (name == "hgxh100") {
    s.generation = GpuGeneration::kHopper;
    s.compute_capability = 90;
    s.nvlinks = 18;
    s.pcie_gb_per_s = 48;
    cards(8, 50);
  } else {
    s.generation = GpuGeneration::kBlackwell;
    s.compute_capability = 100;
    s.nvlinks = 18;
    s.nvlink_gb_per_s = 50;
    s.pcie_gb_per_s = 48;
    s.grace = name != "dgxb200";
    if (s.grace) s.cpu = HostCpu::kArm;
    cards(8, 50);
  }
  return s;
}

struct Case {
  const char* name;
  const char* machine;
  int nodes;
  int gpus;
};

class UniformGraphs : public testing::TestWithParam<Case> {};

void expect_same(const Graph& ours, const Graph& theirs, const std::string& what) {
  EXPECT_EQ(ours.channels, theirs.channels) << what;
  EXPECT_EQ(ours.bw_intra, theirs.bw_intra) << what;
  EXPECT_EQ(ours.bw_inter, theirs.bw_inter) << what;
  if (theirs.channels > 0) {
    EXPECT_EQ(ours.type_intra, theirs.type_intra) << what;
  }
}

TEST_P(UniformGraphs, MatchNcclsSearch) {
  const Case& one = GetParam();
  const Communicator theirs = communicator_of(nccl_case(one.name));
  const auto ours =
      uniform_communicator(machine(one.machine, one.nodes, one.gpus), kDefaultVersion, {});
  ASSERT_TRUE(ours) << ours.error().message();
  expect_same(ours->graphs.ring, theirs.graphs.ring, "ring");
  expect_same(ours->graphs.tree, theirs.graphs.tree, "tree");
  EXPECT_EQ(ours->graphs.tree.pattern == Pattern::kTree,
            theirs.graphs.tree.pattern == Pattern::kTree);
  expect_same(ours->graphs.nvls, theirs.graphs.nvls, "nvls");
  EXPECT_EQ(ours->channels, theirs.channels);
  EXPECT_EQ(ours->nvls_channels, theirs.nvls_channels);
  EXPECT_EQ(ours->ranks, theirs.ranks);
  EXPECT_EQ(ours->p2p.channels, nccl_case(one.name)["p2pnChannels"].number());
  EXPECT_EQ(ours->p2p.per_peer, nccl_case(one.name)["p2pnChannelsPerPeer"].number());
}

INSTANTIATE_TEST_SUITE_P(
    Golden, UniformGraphs,
    testing::Values(Case{"dgx1v-n1", "dgx1v", 1, 8}, Case{"dgx1v-n2", "dgx1v", 2, 8},
                    Case{"dgx2-n1", "dgx2", 1, 16}, Case{"dgx2-n4", "dgx2", 4, 16},
                    Case{"dgxa100-n1", "dgxa100", 1, 8}, Case{"dgxa100-n4", "dgxa100", 4, 8},
                    Case{"dgxa100-n1-g2", "dgxa100", 1, 2}, Case{"dgxa100-n1-g4", "dgxa100", 1, 4},
                    Case{"dgxa100-n2-g1", "dgxa100", 2, 1}, Case{"dgxa100-n2-g4", "dgxa100", 2, 4},
                    Case{"p4d-n2", "p4d", 2, 8}, Case{"hgxh100-n1", "hgxh100", 1, 8},
                    Case{"hgxh100-n2", "hgxh100", 2, 8}, Case{"hgxh100-n16", "hgxh100", 16, 8},
                    Case{"hgxh100-n1-g2", "hgxh100", 1, 2}, Case{"hgxh100-n1-g4", "hgxh100", 1, 4},
                    Case{"hgxh100-n4-g1", "hgxh100", 4, 1}, Case{"hgxh100-n2-g4", "hgxh100", 2, 4},
                    Case{"dgxb200-n1", "dgxb200", 1, 8}, Case{"dgxb200-n4", "dgxb200", 4, 8},
                    Case{"dgxb200-n1-g2", "dgxb200", 1, 2}, Case{"dgxb200-n4-g1", "dgxb200", 4, 1},
                    Case{"gb200_nvl8-n1", "gb200", 1, 8}, Case{"gb200_nvl8-n2", "gb200", 2, 8}),
    [](const auto& one) {
      std::string name = one.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(UniformGraphs, TheFirstGpusOfACubeMeshAreSearched) {
  for (int gpus = 2; gpus <= 8; ++gpus) {
    const auto drawn = search_graphs(cube_mesh(gpus), 1);
    const auto written = search_graphs(test::first_gpus(test::topology("dgx1v"), gpus), 1);
    ASSERT_TRUE(drawn && written);
    EXPECT_EQ(drawn->graphs.ring.channels, written->graphs.ring.channels) << gpus;
    EXPECT_EQ(drawn->graphs.ring.bw_intra, written->graphs.ring.bw_intra) << gpus;
    EXPECT_EQ(drawn->graphs.ring.type_intra, written->graphs.ring.type_intra) << gpus;
    EXPECT_EQ(drawn->graphs.tree.channels, written->graphs.tree.channels) << gpus;
    EXPECT_EQ(drawn->graphs.tree.bw_intra, written->graphs.tree.bw_intra) << gpus;
    const auto comm = uniform_communicator(machine("dgx1v", 1, gpus), kDefaultVersion, {});
    ASSERT_TRUE(comm) << comm.error().message();
    EXPECT_EQ(comm->graphs.ring.channels, written->graphs.ring.channels) << gpus;
  }
}

TEST(UniformGraphs, PartOfACubeMeshOnSeveralNodesIsRefused) {
  const auto refused = uniform_communicator(machine("dgx1v", 2, 4), kDefaultVersion, {});
  EXPECT_THAT(test::kinds_of(refused), testing::ElementsAre("unsupported"));
  EXPECT_TRUE(uniform_communicator(machine("dgx1v", 2, 8), kDefaultVersion, {}))
      << "the whole mesh";
}

}  // namespace
}  // namespace tutti::core::nccl
