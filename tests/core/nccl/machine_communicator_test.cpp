// Kinds of machine under variables that change paths: what is searched on a machine's own drawing is what NCCL's search finds on the topology that NCCL wrote down.

#include "core/nccl/machine_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/search.h"
#include "core/nccl/searched_communicator.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/topology_of_machine.h"
#include "core/scenario/library.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Machine> shipped(const std::string& name) {
  static const Library library(test::source_folder() + "/scenarios");
  const auto file = library.read(Library::Kind::kMachine, name, "");
  return *read_machine((*file)->text, (*file)->path);
}

System system(const std::string& machine, int nodes) {
  const auto made = system_of(*shipped(machine), nodes, std::nullopt, "infiniband");
  if (!made) throw std::invalid_argument(made.error().message());
  return *made;
}

Settings settings(const std::string& variable) {
  const auto equals = variable.find('=');
  return *read_settings({{variable.substr(0, equals), variable.substr(equals + 1)}}, kDefaultVersion);
}

Expected<OnMachines> known(const std::string& machine, int nodes, const std::string& variable) {
  return on_machines(*shipped(machine), system(machine, nodes), "infiniband", "--network", settings(variable),
                     kDefaultVersion);
}

std::string told(const Graph& g) {
  return fmt::format("{} {} channels {}/{} GB/s, {}/{}, cross {}", static_cast<int>(g.pattern), g.channels, g.bw_intra,
                     g.bw_inter, to_string(g.type_intra), to_string(g.type_inter), g.cross_nic);
}

struct Pair {
  const char* machine;
  const char* topology;
};

class PathVariables : public testing::TestWithParam<Pair> {};

TEST_P(PathVariables, FindWhatIsFoundOnTheTopologyThatNcclWroteDown) {
  for (const char* variable : {"NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1", "NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1",
                               "NCCL_NET_GDR_LEVEL=LOC", "NCCL_PXN_DISABLE=1"}) {
    for (const int nodes : {1, 2, 4}) {
      SCOPED_TRACE(fmt::format("{} {} × {}", variable, nodes, GetParam().machine));
      const auto search = search_settings(settings(variable));
      const auto drawn = topology_of(*shipped(GetParam().machine), system(GetParam().machine, nodes));
      ASSERT_TRUE(drawn) << drawn.error().message();
      const auto ours = search_graphs(*drawn, nodes, *search);
      const auto written = search_graphs(test::topology(GetParam().topology), nodes, *search);
      ASSERT_TRUE(ours && written);
      EXPECT_EQ(ours->nodes_per_topology, written->nodes_per_topology);
      EXPECT_EQ(told(ours->graphs.ring), told(written->graphs.ring));
      EXPECT_EQ(told(ours->graphs.tree), told(written->graphs.tree));
      EXPECT_EQ(told(ours->graphs.nvls), told(written->graphs.nvls));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, PathVariables,
                         testing::Values(Pair{"hgx-h100", "hgxh100"}, Pair{"dgx-a100", "dgxa100"},
                                         Pair{"dgx1-v100", "dgx1v"}, Pair{"dgx-b200", "dgxb200"}, Pair{"dgx2", "dgx2"},
                                         Pair{"pcie4-a100", "a100pcie4_nvbridge"}, Pair{"ec2-p4d-24xlarge", "p4d"}),
                         [](const auto& one) { return std::string(one.param.topology); });

TEST(OnMachines, WithoutPeerAccessAMachineFallsApartWhereItsCardsAreFasterThanItsSockets) {
  // Two GPUs and two cards on each of four PCIe switches: 25 GB/s of a card are more than 16 between sockets.
  const auto found = known("dgx-a100", 2, "NCCL_P2P_DISABLE=1");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.nodes, 8);
  EXPECT_EQ(found->system.gpus, 2);
  EXPECT_EQ(found->system.nics, 2);
  EXPECT_EQ(found->system.inside, Inside::kPcie);
  EXPECT_EQ(found->communicator.nodes, 8);
  EXPECT_EQ(found->communicator.ranks, 16);
  // One machine alone has a network between its parts, too.
  const auto alone = known("dgx-a100", 1, "NCCL_P2P_DISABLE=1");
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(alone->system.nodes, 4);
  EXPECT_EQ(alone->system.transport, Transport::kInfiniband);
  EXPECT_EQ(alone->system.nic_gb_per_s, 25);
}

TEST(OnMachines, SharedMemoryIsMissedOnlyWhereThereIsNoPeerAccess) {
  const auto found = known("hgx-h100", 2, "NCCL_SHM_DISABLE=1");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.nodes, 2);
  EXPECT_EQ(found->system.inside, Inside::kNvswitch);
}

TEST(OnMachines, WithoutVerbsTheyTalkBySockets) {
  const auto found = known("hgx-h100", 2, "NCCL_IB_DISABLE=1");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.transport, Transport::kTcp);
  EXPECT_FALSE(found->system.gpudirect);
  EXPECT_EQ(found->communicator.graphs.ring.type_inter, PathType::kPhb) << "through the host's memory";
}

TEST(OnMachines, ALevelOfGpudirectSaysWhetherCardsReachGpus) {
  EXPECT_FALSE(known("hgx-h100", 2, "NCCL_NET_GDR_LEVEL=LOC")->system.gpudirect);
  EXPECT_TRUE(known("hgx-h100", 2, "NCCL_NET_GDR_LEVEL=PIX")->system.gpudirect);
  EXPECT_FALSE(known("pcie4-a100", 2, "NCCL_NET_GDR_LEVEL=PXB")->system.gpudirect) << "its cards hang on the CPUs";
  EXPECT_TRUE(known("pcie4-a100", 2, "NCCL_NET_GDR_LEVEL=PHB")->system.gpudirect);
}

TEST(OnMachines, AMachineThatDoesNotSayHowItHangsTogetherIsRefused) {
  const auto found = known("gb200-nvl72", 1, "NCCL_P2P_DISABLE=1");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr("machine gb200-nvl72: gpu0 hangs on no PCIe"));
}

}  // namespace
}  // namespace tutti::core::nccl
