// Paths between GPUs and cards, computed from the topologies of machines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/nccl/topology/paths.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using testing::ElementsAre;

SearchSettings with(std::string_view name, std::string_view value) {
  SearchSettings settings;
  EXPECT_TRUE(set(settings, name, value));
  return settings;
}

PathType gpus(const Paths& paths, int a, int b) {
  return paths.between(NodeKind::kGpu, a, NodeKind::kGpu, b).type;
}
PathType to_net(const Paths& paths, int g, int n) {
  return paths.between(NodeKind::kGpu, g, NodeKind::kNet, n).type;
}

TEST(NcclPaths, Dgx1) {
  const Topology t = test::topology("dgx1v");
  const Paths paths(t, {});
  EXPECT_EQ(gpus(paths, 0, 1), PathType::kNvl);
  EXPECT_FLOAT_EQ(paths.between(NodeKind::kGpu, 0, NodeKind::kGpu, 3).gb_per_s, 40)
      << "two NVLinks";
  EXPECT_EQ(gpus(paths, 0, 5), PathType::kNvb) << "by way of GPU 1 or 4";
  EXPECT_EQ(paths.between(NodeKind::kGpu, 0, NodeKind::kGpu, 5).links.size(), 2U);
  EXPECT_EQ(to_net(paths, 0, 0), PathType::kPix);
  EXPECT_EQ(to_net(paths, 0, 1), PathType::kPxn) << "by way of GPU 2 rather than through the CPU";
  EXPECT_EQ(paths.between(NodeKind::kNet, 1, NodeKind::kGpu, 0).type, PathType::kPhb)
      << "received data takes the direct route";
  SearchSettings without = with("NCCL_NVB_DISABLE", "1");
  EXPECT_EQ(gpus(Paths(t, without), 0, 5), PathType::kNet)
      << "12 GB/s by the cards rather than 6 between the sockets";
  ASSERT_TRUE(set(without, "NCCL_NET_DISABLE_INTRA", "1"));
  EXPECT_EQ(gpus(Paths(t, without), 0, 5), PathType::kSys);
  EXPECT_EQ(to_net(Paths(t, with("NCCL_PXN_DISABLE", "1")), 0, 1), PathType::kPhb);
}

TEST(NcclPaths, PcieOnly) {
  const Topology t = test::topology("l40s8_amd");
  const Paths paths(t, {});
  EXPECT_EQ(gpus(paths, 0, 1), PathType::kPhb);
  EXPECT_EQ(gpus(paths, 0, 4), PathType::kSys);
  EXPECT_FLOAT_EQ(paths.between(NodeKind::kGpu, 0, NodeKind::kGpu, 4).gb_per_s, 16)
      << "AMD's sockets";
  EXPECT_EQ(to_net(paths, 0, 0), PathType::kPhb);
  EXPECT_EQ(to_net(paths, 4, 0), PathType::kSys);
}

TEST(NcclPaths, ChipToChip) {
  const Topology t = test::topology("gb200_tray");
  const Paths paths(t, {});
  EXPECT_EQ(gpus(paths, 0, 3), PathType::kNvl);
  EXPECT_EQ(to_net(paths, 0, 0), PathType::kP2c) << "C2C to the CPU, PCIe to the card";
  EXPECT_EQ(to_net(paths, 0, 2), PathType::kPxn) << "by way of the other socket's GPU";
}

TEST(NcclPaths, NicsOfGpus) {
  // There are two GPUs and two cards on each of four switches.
  const Topology t = test::topology("dgxa100");
  const Paths paths(t, {});
  std::vector<int> nets;
  for (int g = 0; g < 8; ++g) {
    nets.push_back(paths.local_net(g, 0));
    EXPECT_EQ(paths.local_net(g, 1), nets.back()) << "a card for every GPU";
    EXPECT_EQ(paths.local_gpu(nets.back()), g);
  }
  EXPECT_THAT(nets, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const Paths all(t, with("NCCL_NETDEVS_POLICY", "ALL"));
  EXPECT_NE(all.local_net(0, 0), all.local_net(0, 1)) << "both that are near";
  EXPECT_EQ(all.local_net(0, 0), all.local_net(0, 2));
}

TEST(NcclPaths, VariablesDisablePeerAccess) {
  const Topology t = test::topology("dgxa100");
  const Paths paths(t, with("NCCL_P2P_DISABLE", "1"));
  EXPECT_GE(gpus(paths, 0, 7), PathType::kPhb) << "through the host's memory";
  EXPECT_EQ(gpus(paths, 0, 0), PathType::kLoc);
}

TEST(NcclPaths, WithoutSharedMemoryOnlyGpusWithPeerAccessAreOneNode) {
  const Topology t = test::topology("a100pcie4_nvbridge");
  EXPECT_THAT(Paths(t, {}).domains(), testing::ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(Paths(t, with("NCCL_SHM_DISABLE", "1")).domains(), testing::ElementsAre(0, 0, 2, 2));
}

TEST(NcclPaths, APathIsNoWiderThanItsLinks) {
  for (const std::string& name : test::topology_names()) {
    const Topology t = test::topology(name);
    const Paths paths(t, {});
    for (const NodeKind from : {NodeKind::kGpu, NodeKind::kNet}) {
      for (const NodeKind to : {NodeKind::kGpu, NodeKind::kNet}) {
        for (int a = 0; a < t.count(from); ++a) {
          for (int b = 0; b < t.count(to); ++b) {
            const Path& path = paths.between(from, a, to, b);
            int at = t.all(from)[a];
            for (const int l : path.links) {
              const TopologyLink& link = t.links[l];
              EXPECT_EQ(link.from, at) << name;
              EXPECT_LE(path.gb_per_s, link.gb_per_s) << name;
              at = link.to;
            }
            if (path.type != PathType::kDis) {
              EXPECT_EQ(at, t.all(to)[b]) << name;
            }
          }
        }
      }
    }
  }
}

TEST(SearchSettings, AcceptOnlyValidValues) {
  SearchSettings settings;
  EXPECT_TRUE(set(settings, "NCCL_P2P_LEVEL", "PHB"));
  EXPECT_EQ(settings.p2p_level, PathType::kPhb);
  EXPECT_TRUE(set(settings, "NCCL_P2P_LEVEL", "4"));
  EXPECT_EQ(settings.p2p_level, PathType::kSys) << "the numbers of old versions";
  const auto error = [&](std::string_view name, std::string_view value) {
    return test::kinds_of(set(settings, name, value));
  };
  EXPECT_THAT(error("NCCL_P2P_LEVEL", "FAR"), ElementsAre("unknown-name NCCL_P2P_LEVEL"));
  EXPECT_THAT(error("NCCL_SHM_DISABLE", "yes"), ElementsAre("wrong-type NCCL_SHM_DISABLE"));
  EXPECT_THAT(error("NCCL_CROSS_NIC", "3"), ElementsAre("too-large NCCL_CROSS_NIC"));
  EXPECT_THAT(error("NCCL_NETDEVS_POLICY", "MAX:0"), ElementsAre("too-small NCCL_NETDEVS_POLICY"));
  EXPECT_THAT(error("NCCL_CROSSNIC", "1"), ElementsAre("unknown-name NCCL_CROSSNIC"));
}

}  // namespace
}  // namespace tutti::core::nccl
