// Machines with NCCL variables that change paths. The graphs that the search finds on a machine's
// description must equal those that NCCL finds on the topology file that NCCL has written.

#include "core/nccl/machine_communicator.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/search/search.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/topology/topology_of_machine.h"
#include "core/scenario/library.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core::nccl {
namespace {

System system(const std::string& machine, int nodes) {
  const auto made = system_of(*test::shipped_machine(machine), nodes, std::nullopt, "infiniband");
  if (!made) throw std::invalid_argument(made.error().message());
  return *made;
}

/// Returns the settings of `variables`, which is a list of "NAME=value" separated by spaces.
Settings settings(const std::string& variables, Version version = kDefaultVersion) {
  std::vector<std::pair<std::string, std::string>> all;
  std::istringstream words(variables);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    all.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return *read_settings(all, version);
}

Expected<OnMachines> known(const std::string& machine, int nodes, const std::string& variables,
                           Version version = kDefaultVersion) {
  return on_machines(*test::shipped_machine(machine), system(machine, nodes), "infiniband",
                     "--network", settings(variables, version), version);
}

std::string graph_text(const Graph& g) {
  return fmt::format("{} {} channels {}/{} GB/s, {}/{}, cross {}", static_cast<int>(g.pattern),
                     g.channels, g.bw_intra, g.bw_inter, to_string(g.type_intra),
                     to_string(g.type_inter), g.cross_nic);
}

struct Pair {
  const char* machine;
  const char* topology;
};

class PathVariables : public testing::TestWithParam<Pair> {};

TEST_P(PathVariables, HaveTheSameEffectOnAMachineAsOnItsTopologyDump) {
  for (const char* variable :
       {"NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1", "NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1",
        "NCCL_NET_GDR_LEVEL=LOC", "NCCL_PXN_DISABLE=1", "NCCL_NET_DISABLE_INTRA=1"}) {
    for (const int nodes : {1, 2, 4}) {
      SCOPED_TRACE(fmt::format("{} {} × {}", variable, nodes, GetParam().machine));
      const auto search = search_settings(settings(variable));
      const auto drawn = topology_of(*test::shipped_machine(GetParam().machine),
                                     system(GetParam().machine, nodes));
      ASSERT_TRUE(drawn) << drawn.error().message();
      const auto ours = search_graphs(*drawn, nodes, *search);
      const auto written = search_graphs(test::topology(GetParam().topology), nodes, *search);
      ASSERT_TRUE(ours && written);
      EXPECT_EQ(ours->nodes_per_topology, written->nodes_per_topology);
      EXPECT_EQ(graph_text(ours->graphs.ring), graph_text(written->graphs.ring));
      EXPECT_EQ(graph_text(ours->graphs.tree), graph_text(written->graphs.tree));
      EXPECT_EQ(graph_text(ours->graphs.nvls), graph_text(written->graphs.nvls));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, PathVariables,
                         testing::Values(Pair{"hgx-h100", "hgxh100"}, Pair{"dgx-a100", "dgxa100"},
                                         Pair{"dgx1-v100", "dgx1v"}, Pair{"dgx-b200", "dgxb200"},
                                         Pair{"dgx2", "dgx2"},
                                         Pair{"pcie4-a100", "a100pcie4_nvbridge"},
                                         Pair{"ec2-p4d-24xlarge", "p4d"}),
                         [](const auto& one) { return std::string(one.param.topology); });

TEST(OnMachines, WithoutPeerAccessFastNicsSplitAMachineIntoSeveralNodes) {
  // Two GPUs and two cards are on each of four PCIe switches. The 25 GB/s of a card are more than
  // the 16 GB/s between sockets.
  const auto found = known("dgx-a100", 2, "NCCL_P2P_DISABLE=1");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.nodes, 8);
  EXPECT_EQ(found->system.gpus, 2);
  EXPECT_EQ(found->system.nics, 2);
  EXPECT_EQ(found->system.inside, Inside::kPcie);
  EXPECT_EQ(found->communicator.nodes, 8);
  EXPECT_EQ(found->communicator.ranks, 16);
  // A single machine also uses the network between its parts.
  const auto alone = known("dgx-a100", 1, "NCCL_P2P_DISABLE=1");
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(alone->system.nodes, 4);
  EXPECT_EQ(alone->system.transport, Transport::kInfiniband);
  EXPECT_EQ(alone->system.nic_gb_per_s, 25);
}

TEST(OnMachines, DisablingSharedMemoryMattersOnlyWithoutPeerAccess) {
  const auto found = known("hgx-h100", 2, "NCCL_SHM_DISABLE=1");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.nodes, 2);
  EXPECT_EQ(found->system.inside, Inside::kNvswitch);
}

TEST(OnMachines, WithoutVerbsMachinesUseSockets) {
  const auto found = known("hgx-h100", 2, "NCCL_IB_DISABLE=1");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.transport, Transport::kTcp);
  EXPECT_FALSE(found->system.gpudirect);
  EXPECT_EQ(found->communicator.graphs.ring.type_inter, PathType::kPhb)
      << "through the host's memory";
}

TEST(OnMachines, ThreadsAndSocketsAreLimitedAsInNccl) {
  const auto found =
      known("hgx-h100", 2, "NCCL_IB_DISABLE=1 NCCL_SOCKET_NTHREADS=64 NCCL_NSOCKS_PERTHREAD=1000");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->system.sockets.threads, 16);
  EXPECT_EQ(found->system.sockets.per_thread, 4);
  EXPECT_EQ(found->notes.size(), 2u);
  EXPECT_TRUE(known("hgx-h100", 2, "NCCL_SOCKET_NTHREADS=64")->notes.empty())
      << "without sockets, the variable has no effect";
}

TEST(OnMachines, TheGpudirectLevelDeterminesWhetherNicsReachGpuMemory) {
  EXPECT_FALSE(known("hgx-h100", 2, "NCCL_NET_GDR_LEVEL=LOC")->system.gpudirect);
  EXPECT_TRUE(known("hgx-h100", 2, "NCCL_NET_GDR_LEVEL=PIX")->system.gpudirect);
  EXPECT_FALSE(known("pcie4-a100", 2, "NCCL_NET_GDR_LEVEL=PXB")->system.gpudirect)
      << "its cards hang on the CPUs";
  EXPECT_TRUE(known("pcie4-a100", 2, "NCCL_NET_GDR_LEVEL=PHB")->system.gpudirect);
}

// Tests of NCCL_NET_DISABLE_INTRA. SOURCE: NVIDIA/nccl src/graph/paths.cc, ncclTopoCheckNet (since
// 2.14.3; the default is 0, and only 1 counts); src/transport/net.cc, canConnect (since 2.12.7).

TEST(NetDisableIntra, KeepsAMachineWithFastNicsOneNode) {
  // Each socket of the machine has a switch with four GPUs and a card of 25 GB/s. The link between
  // the sockets has 22 GB/s.
  const std::string search = "NCCL_CROSS_NIC=2 ";
  for (const int nodes : {1, 2}) {
    EXPECT_EQ(known("pcie-l40s", nodes, search)->communicator.nodes, 2 * nodes);
    EXPECT_EQ(known("pcie-l40s", nodes, search + "NCCL_NET_DISABLE_INTRA=0")->communicator.nodes,
              2 * nodes);
    const auto together = known("pcie-l40s", nodes, "NCCL_NET_DISABLE_INTRA=1");
    ASSERT_TRUE(together) << together.error().message();
    EXPECT_EQ(together->communicator.nodes, nodes);
    EXPECT_EQ(together->system.gpus, 8);
    EXPECT_EQ(together->communicator.graphs.ring.type_intra, PathType::kSys);
  }
  const auto without_peers = known("dgx-a100", 2, "NCCL_P2P_DISABLE=1 NCCL_NET_DISABLE_INTRA=1");
  ASSERT_TRUE(without_peers) << without_peers.error().message();
  EXPECT_EQ(without_peers->communicator.nodes, 2)
      << "through the hosts' memory rather than 4 nodes each";
  EXPECT_EQ(without_peers->system.gpus, 8);
}

TEST(NetDisableIntra, MatchesNcclsGraphsOfEightL40s) {
  // NCCL 2.28.9 found these graphs with the variable (tests/reference/nccl/machines_test.cpp,
  // EightL40sBehindTwoSwitches).
  const auto one = known("pcie-l40s", 1, "NCCL_NET_DISABLE_INTRA=1");
  const auto two = known("pcie-l40s", 2, "NCCL_NET_DISABLE_INTRA=1");
  ASSERT_TRUE(one && two);
  const Graph& ring = one->communicator.graphs.ring;
  EXPECT_EQ(fmt::format("{}x{:g} {}", ring.channels, ring.bw_intra, to_string(ring.type_intra)),
            "1x20 SYS");
  const Graph& rings = two->communicator.graphs.ring;
  EXPECT_EQ(fmt::format("{}x{:g} {}/{} x{}", rings.channels, rings.bw_intra,
                        to_string(rings.type_intra), to_string(rings.type_inter), rings.cross_nic),
            "2x12 SYS/SYS x2");
}

TEST(NetDisableIntra, ChangesNothingIfGpusReachEachOtherDirectly) {
  for (const char* machine : {"hgx-h100", "dgx-a100", "dgx1-v100"}) {
    const auto usual = known(machine, 2, "NCCL_CROSS_NIC=2"),
               with = known(machine, 2, "NCCL_NET_DISABLE_INTRA=1");
    ASSERT_TRUE(usual && with);
    EXPECT_EQ(graph_text(with->communicator.graphs.ring),
              graph_text(usual->communicator.graphs.ring))
        << machine;
    EXPECT_EQ(graph_text(with->communicator.graphs.tree),
              graph_text(usual->communicator.graphs.tree))
        << machine;
    EXPECT_EQ(with->communicator.nodes, 2) << machine;
  }
}

TEST(NetDisableIntra, LeavesNoRouteBetweenGpusThatOnlyTheNetworkConnects) {
  const std::string alone = "NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1";
  EXPECT_TRUE(known("hgx-h100", 1, alone));
  for (const Version version :
       {Version{2, 12, 12}, Version{2, 13, 4}, Version{2, 14, 3}, kDefaultVersion}) {
    const auto none = known("hgx-h100", 1, alone + " NCCL_NET_DISABLE_INTRA=1", version);
    EXPECT_THAT(test::kinds_of(none), testing::ElementsAre("conflict NCCL_NET_DISABLE_INTRA"))
        << to_string(version);
  }
  EXPECT_TRUE(known("hgx-h100", 1, alone + " NCCL_NET_DISABLE_INTRA=1", {2, 11, 4}))
      << "which does not have it";
}

TEST(NvbDisable, IsRefusedBecauseItsTimesAreUnknown) {
  EXPECT_TRUE(read_settings({{"NCCL_NVB_DISABLE", "0"}}, kDefaultVersion));
  const auto refused = read_settings({{"NCCL_NVB_DISABLE", "1"}}, kDefaultVersion);
  EXPECT_THAT(test::kinds_of(refused), testing::ElementsAre("unsupported NCCL_NVB_DISABLE"));
  EXPECT_THAT(refused.error().message(),
              testing::HasSubstr("import nccl-topology FILE --graphs --set NCCL_NVB_DISABLE=1"));
  // A record with this variable is not predicted as if the variable were not set.
  std::vector<std::string> unknown;
  EXPECT_FALSE(read_settings({{"NCCL_NVB_DISABLE", "1"}}, kDefaultVersion, &unknown));
  const auto wrong = read_settings({{"NCCL_NVB_DISABLE", "yes"}}, kDefaultVersion);
  EXPECT_THAT(test::kinds_of(wrong), testing::ElementsAre("wrong-type NCCL_NVB_DISABLE"));
}

TEST(NetDisableIntra, IsOnlyKnownInItsReleases) {
  // Since 2.14, NCCL compares the network with the links between the GPUs of a machine.
  EXPECT_EQ(known("dgx-a100", 1, "NCCL_P2P_DISABLE=1", {2, 14, 3})->communicator.nodes, 4);
  EXPECT_EQ(known("dgx-a100", 1, "NCCL_P2P_DISABLE=1", {2, 13, 4})->communicator.nodes, 1);
  EXPECT_THAT(settings("NCCL_NET_DISABLE_INTRA=1").notes, testing::IsEmpty());
  EXPECT_THAT(settings("NCCL_NET_DISABLE_INTRA=1").of_the_search(),
              testing::ElementsAre("NCCL_NET_DISABLE_INTRA"));
  EXPECT_THAT(settings("NCCL_NET_DISABLE_INTRA=0").of_the_search(), testing::IsEmpty());
  EXPECT_THAT(settings("NCCL_NET_DISABLE_INTRA=1", {2, 13, 4}).notes, testing::SizeIs(1));
  EXPECT_THAT(settings("NCCL_NET_DISABLE_INTRA=1", {2, 11, 4}).notes, testing::SizeIs(1));
  EXPECT_THAT(settings("NCCL_NET_DISABLE_INTRA=1", {2, 11, 4}).of_the_search(), testing::IsEmpty());
  const auto wrong = read_settings({{"NCCL_NET_DISABLE_INTRA", "yes"}}, kDefaultVersion);
  EXPECT_THAT(test::kinds_of(wrong), testing::ElementsAre("wrong-type NCCL_NET_DISABLE_INTRA"));
}

/// Returns the communicator of one machine with the given text.
OnMachines of_text(const std::string& text, std::optional<int> gpus,
                   const std::string& variables = "") {
  const auto machine = read_machine(text, "machine");
  if (!machine) throw std::invalid_argument(machine.error().message());
  const auto made = system_of(**machine, 1, gpus, std::nullopt);
  if (!made) throw std::invalid_argument(made.error().message());
  const auto found = on_machines(**machine, *made, std::nullopt, "--network", settings(variables),
                                 kDefaultVersion);
  if (!found) throw std::invalid_argument(found.error().message());
  return *found;
}
OnMachines of_gpus(const std::string& machine, int gpus, const std::string& variables = "") {
  const auto made = system_of(*test::shipped_machine(machine), 1, gpus, std::nullopt);
  if (!made) throw std::invalid_argument(made.error().message());
  return *on_machines(*test::shipped_machine(machine), *made, std::nullopt, "--network",
                      settings(variables), kDefaultVersion);
}

TEST(OnMachines, TheLinksBetweenParticipatingGpusDetermineTheConnection) {
  // Twelve NVLinks join the GPUs of a pair, but no NVLinks join the pairs.
  for (const char* variables : {"", "NCCL_CROSS_NIC=2"}) {
    const OnMachines pair = of_gpus("pcie4-a100", 2, variables);
    EXPECT_EQ(pair.system.inside, Inside::kPairs) << variables;
    EXPECT_EQ(pair.system.nvlinks, 12) << variables;
    EXPECT_EQ(pair.communicator.graphs.ring.type_intra, PathType::kNvl) << variables;
    EXPECT_EQ(of_gpus("pcie4-a100", 4, variables).system.inside, Inside::kPcie) << variables;
  }
  EXPECT_EQ(of_gpus("pcie4-a100", 3).system.inside, Inside::kPcie);
  EXPECT_EQ(of_gpus("dgx1-v100", 2).system.inside, Inside::kCubeMesh);
}

/// Returns the text of a machine with four A100 and the given NVLinks, each of four lanes.
std::string with_nvlinks(const std::vector<std::pair<int, int>>& links) {
  std::string text =
      "name: \"four\" source: \"test\"\n"
      "device { name: \"gpu[0-3]\" kind: GPU gpu_model: A100 memory_gb_per_s: 1000 }\n"
      "device { name: \"cpu0\" kind: CPU memory_gb_per_s: 100 }\n"
      "link { from: \"cpu0\" to: \"gpu[0-3]\" kind: PCIE generation: 4 latency_us: 0.5 }\n";
  for (const auto& [a, b] : links)
    text += fmt::format(
        "link {{ from: \"gpu{}\" to: \"gpu{}\" kind: NVLINK generation: 3 lanes: 4 latency_us: "
        "0.6 }}\n",
        a, b);
  return text;
}

TEST(OnMachines, OnlyNvlinksToParticipatingGpusCount) {
  const std::string all = with_nvlinks({{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(of_text(all, 4).system.inside, Inside::kPairs);
  EXPECT_EQ(of_text(all, 4).system.nvlinks, 12);
  EXPECT_EQ(of_text(all, 2).system.inside, Inside::kPairs);
  EXPECT_EQ(of_text(all, 2).system.nvlinks, 4) << "those between the two";
}

TEST(OnMachines, GraphsOfUnevenNvlinksAreSearched) {
  // Four GPUs in a circle: the rings of both directions use all NVLinks.
  const OnMachines circle = of_text(with_nvlinks({{0, 1}, {1, 2}, {2, 3}, {0, 3}}), 4);
  EXPECT_EQ(circle.system.inside, Inside::kCubeMesh);
  EXPECT_LE(circle.communicator.graphs.ring.type_intra, PathType::kNvb);
  EXPECT_THAT(circle.communicator.graphs.ring.orders, testing::Not(testing::IsEmpty()));
  // Without the NVLinks of one GPU, rings need PCIe.
  EXPECT_EQ(of_text(with_nvlinks({{0, 1}, {1, 2}}), 4).system.inside, Inside::kPcie);
}

TEST(Nvls, NeedsSwitchesThatMulticast) {
  std::string text = (*test::shipped_library().read(Library::Kind::kMachine, "hgx-h100", ""))->text;
  for (const char* variables : {"", "NCCL_CROSS_NIC=2"})
    EXPECT_TRUE(of_text(text, std::nullopt, variables).communicator.nvls) << variables;
  const std::string field = "in_switch_reduction: true";
  text.erase(text.find(field), field.size());
  for (const char* variables : {"", "NCCL_CROSS_NIC=2"}) {
    const OnMachines plain = of_text(text, std::nullopt, variables);
    EXPECT_EQ(plain.system.inside, Inside::kNvswitch) << variables;
    EXPECT_FALSE(plain.communicator.nvls) << variables;
    EXPECT_EQ(plain.communicator.graphs.nvls.channels, 0) << variables;
  }
}

TEST(Nvls, AllShippedNvswitchesOfHopperAndBlackwellMulticast) {
  int seen = 0;
  for (const std::string& name : test::shipped_library().names(Library::Kind::kMachine)) {
    const auto made = system_of(*test::shipped_machine(name), 1, std::nullopt, std::nullopt);
    if (!made || made->inside != Inside::kNvswitch || made->compute_capability < 90) continue;
    EXPECT_TRUE(made->switch_multicasts) << name;
    ++seen;
  }
  EXPECT_GE(seen, 7);
}

TEST(OnMachines, RefusesAMachineWithoutLinks) {
  const auto found = known("gb200-nvl72", 1, "NCCL_P2P_DISABLE=1");
  EXPECT_THAT(test::kinds_of(found), testing::ElementsAre("missing Machine.link"));
}

}  // namespace
}  // namespace tutti::core::nccl
