// Synthesis on shipped machines and networks: lower bounds computed by hand, and schedules that
// come close to them.

#include <gtest/gtest.h>

#include <array>

#include <fmt/format.h>

#include "core/scenario/scenario.h"
#include "core/synthesis/fabric_of_cluster.h"
#include "core/synthesis/pinned_routes.h"
#include "core/synthesis/synthesis.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core::synthesis {
namespace {

constexpr const char* kRing =
    "workers { machine: \"ring8\" } machine { name: \"ring8\" "
    "device { name: \"gpu[0-7]\" kind: GPU memory_gb_per_s: 1000 } "
    "switch { name: \"plx\" kind: PCIE_SWITCH } "
    "link { from: \"gpu[0-7]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 2 latency_us: 1 } "
    "link { from: \"gpu[0-3]\" to: \"gpu[1-4]\" kind: NVLINK bandwidth_gb_per_s: 40 latency_us: 1 "
    "} "
    "link { from: \"gpu[4-6]\" to: \"gpu[5-7]\" kind: NVLINK bandwidth_gb_per_s: 20 latency_us: 1 "
    "} "
    "link { from: \"gpu7\" to: \"gpu0\" kind: NVLINK bandwidth_gb_per_s: 10 latency_us: 1 } }";
constexpr const char* kFatTree =
    "workers { machine: \"host\" count: 16 } network { kind: FAT_TREE latency_us: 2 switch_us: 0.3 "
    "fat_tree { workers_per_leaf: 4 spines: 2 oversubscription: 2 } path_choice: DESTINATION } "
    "machine { name: \"host\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 1000 } "
    "nic { name: \"nic0\" bandwidth_gb_per_s: 25 } "
    "link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 32 latency_us: 0 } }";
constexpr const char* kSixGpus = "workers { machine: \"dgx1-v100\" replicas: 6 }";
constexpr const char* kOneSwitch = " network { kind: ONE_SWITCH latency_us: 2 }";

Expected<Scenario> scenario_on(const std::string& cluster) {
  return read_scenario("cluster { " + cluster +
                           " }\nworkload { variable { name: \"b\" shape: 4096 } update_ms: 0 }\n"
                           "strategy { algorithm: \"ring\" }\n",
                       "a.textproto", test::shipped_library());
}

FabricGraph fabric_on(const std::string& cluster) {
  const auto scenario = scenario_on(cluster);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  if (!scenario) return {};
  auto graph = fabric_of(*scenario->cluster);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message());
  return graph ? std::move(*graph) : FabricGraph();
}

/// Returns the lower bound of an all-gather, relative to the time of its buffer at 1 GB/s.
double bound_on(const std::string& cluster) {
  const Task task{CollectiveKind::kAllGather, 0, Bytes(1'000'000'000)};
  const auto bound = bandwidth_bound(fabric_on(cluster), task);
  return bound ? to_us(bound->time) / 1e6 : -1;
}

TEST(FabricBound, MatchesNarrowestCutsComputedByHand) {
  // A GPU of a DGX A100 receives 15 of 16 parts over 240 GB/s of NVLink and 24 GB/s of PCIe.
  EXPECT_NEAR(bound_on(std::string("workers { machine: \"dgx-a100\" count: 2 }") + kOneSwitch),
              15.0 / 16 / (240 + 24), 1e-9);
  // A GPU of an HGX H100 receives 31 of 32 parts over 370.8 GB/s of NVLink and 48 GB/s of PCIe.
  EXPECT_NEAR(bound_on(std::string("workers { machine: \"hgx-h100\" count: 4 }") + kOneSwitch),
              31.0 / 32 / (370.8 + 48), 1e-9);
  // With 16 nodes, 15 of 16 parts enter each node over eight cards of 48 GB/s.
  EXPECT_NEAR(bound_on(std::string("workers { machine: \"hgx-h100\" count: 16 }") + kOneSwitch),
              15.0 / 16 / (8 * 48), 1e-9);
  // Four GPUs of a DGX-1 each receive 7 of 8 parts, over NVLinks of 120 GB/s each, and over 6 GB/s
  // between the CPUs that all four share. The links alone would allow 12 GB/s for each, but only
  // over routes that do not exist.
  EXPECT_NEAR(bound_on("workers { machine: \"dgx1-v100\" }"), 4 * 7.0 / 8 / (4 * 120 + 6), 1e-9);
  // Without GPUs 6 and 7, GPUs 4 and 5 receive 5 of 6 each: NVLinks of 60 GB/s, and 6 GB/s between
  // the CPUs for both.
  EXPECT_NEAR(bound_on(kSixGpus), 2 * 5.0 / 6 / (2 * 60 + 6), 1e-9);
  // GPU 7 receives 7 of 8 parts over links of 20 and 10 GB/s, and 2 GB/s of PCIe.
  EXPECT_NEAR(bound_on(kRing), 7.0 / 8 / 32, 1e-9);
  // A host receives 15 of 16 parts over its card. These transfers take longer than those of the 12
  // of 16 parts that enter a leaf over its uplinks.
  EXPECT_NEAR(bound_on(kFatTree), 15.0 / 16 / 25, 1e-9);
}

TEST(FabricBound, IsNeverAboveTheBoundWithFreeRoutes) {
  for (const std::string& cluster : {std::string("workers { machine: \"dgx1-v100\" }"),
                                     std::string(kRing), std::string(kFatTree)}) {
    const auto scenario = scenario_on(cluster);
    ASSERT_TRUE(scenario);
    const auto routed = fabric_of(*scenario->cluster);
    const auto free = fabric_of(*scenario->cluster, FabricLinks::kAll);
    ASSERT_TRUE(routed && free);
    const Task task{CollectiveKind::kAllGather, 0, Bytes(1 << 30)};
    EXPECT_GE(bandwidth_bound(*routed, task)->time, bandwidth_bound(*free, task)->time);
  }
}

/// Returns the time of the busiest link with the best trees, relative to the bound.
double closest_to_bound(const FabricGraph& graph, CollectiveKind kind) {
  double closest = 1e9;
  EXPECT_TRUE(
      find_candidates(graph, {kind, 0, Bytes(1 << 30)}, {}, [&](const Candidate& candidate) {
        if (!candidate.forest) return;
        EXPECT_EQ(flaw_of(*candidate.forest), "");
        Problems problems;
        const AlgorithmShape shape{graph.ranks, graph.ranks_per_node, 0};
        EXPECT_TRUE(test::algorithm_of(text_of(candidate, kind, {}), shape, problems))
            << candidate.name << ": " << test::placed(problems);
        // Both directions of a link share an all-reduce's loads.
        if (kind != CollectiveKind::kAllReduce) {
          EXPECT_GE(candidate.busiest_link, 1 - 1e-9);
        }
        closest = std::min(closest, candidate.busiest_link);
      }));
  return closest;
}

constexpr std::array kWithTrees{CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                CollectiveKind::kAllReduce};

class OnCluster : public testing::TestWithParam<std::string> {};

TEST_P(OnCluster, TreesAreWithinTwoPercentOfTheBound) {
  const FabricGraph graph = fabric_on(GetParam());
  for (const CollectiveKind kind : kWithTrees)
    EXPECT_LE(closest_to_bound(graph, kind), 1.02) << to_string(kind);
}

TEST(PinnedRoutes, ShareTheBandwidthOfACommonLink) {
  // Six pairs of GPUs without a common NVLink share 6 GB/s between the CPUs. GPUs 4 and 5 get half
  // of them each.
  const FabricGraph graph = fabric_on(kSixGpus);
  const auto capacities = route_capacities(graph);
  ASSERT_GE(capacities.size(), 2u);
  const auto pinned = with_pinned_routes(graph, capacities[1]);
  ASSERT_TRUE(pinned);
  const double unit = static_cast<double>(graph.unit.count()) / static_cast<double>(pinned->scale);
  for (const int to : {4, 5}) {
    double into = 0;
    for (const FabricLink& link : pinned->graph.links)
      if (link.to == to) into += static_cast<double>(link.capacity) * unit / 1e9;
    EXPECT_NEAR(into, 60 + 3, 1e-6) << to;
  }
  for (int from = 0; from < graph.ranks; ++from) {
    for (int to = 0; to < graph.ranks; ++to) {
      if (pinned->graph.has_route(from, to)) {
        EXPECT_TRUE(graph.has_route(from, to));
      }
    }
  }
}

/// Returns the bound of an all-reduce with the help of switches, relative to the time of its buffer
/// at 1 GB/s; nullopt if there is none.
std::optional<double> switch_bound_on(const std::string& cluster, CollectiveKind kind) {
  const auto bound = bound_with_switches(fabric_on(cluster), {kind, 0, Bytes(1'000'000'000)});
  return bound ? std::optional(to_us(*bound) / 1e6) : std::nullopt;
}

TEST(SwitchBound, MatchesNarrowestCutsComputedByHand) {
  const std::string nodes = "workers { machine: \"hgx-h100\" count: ";
  // A GPU sends its buffer once over 370.8 GB/s of NVLink.
  EXPECT_NEAR(*switch_bound_on(nodes + "1 }", CollectiveKind::kAllReduce), 1 / 370.8, 1e-8);
  // Four nodes reduce-scatter and all-gather the sums over eight cards of 48 GB/s each.
  EXPECT_NEAR(*switch_bound_on(nodes + "4 }" + kOneSwitch, CollectiveKind::kAllReduce),
              2 * 3.0 / 4 / (8 * 48), 1e-8);
  EXPECT_FALSE(switch_bound_on(nodes + "4 }" + kOneSwitch, CollectiveKind::kAllGather));
  EXPECT_FALSE(switch_bound_on("workers { machine: \"dgx-a100\" }", CollectiveKind::kAllReduce));
}

TEST(SwitchBound, IsALowerBoundForUnequalNodes) {
  // A node of two GPUs with a card of 10 GB/s, and three nodes with cards of 100 GB/s. A
  // reduce-scatter and an all-gather one after the other would take 2 * 3/4 / 10, but both
  // directions of the narrow card can be used at once.
  const auto machine = [](const std::string& name, int card) {
    return fmt::format(
        "machine {{ name: \"{}\" device {{ name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 1000 }} "
        "switch {{ name: \"nvswitch\" kind: NVSWITCH in_switch_reduction: true }} "
        "nic {{ name: \"nic\" bandwidth_gb_per_s: {} }} "
        "link {{ from: \"gpu[0-1]\" to: \"nvswitch\" kind: NVLINK bandwidth_gb_per_s: 400 "
        "latency_us: 1 }} "
        "link {{ from: \"gpu[0-1]\" to: \"nic\" kind: PCIE bandwidth_gb_per_s: 200 latency_us: 1 "
        "}} }} ",
        name, card);
  };
  const auto bound =
      switch_bound_on("workers { machine: \"narrow\" } workers { machine: \"wide\" count: 3 } " +
                          machine("narrow", 10) + machine("wide", 100) + kOneSwitch,
                      CollectiveKind::kAllReduce);
  ASSERT_TRUE(bound);
  EXPECT_NEAR(*bound, 1.0 / 10, 1e-8);
}

TEST(SwitchBound, IsBelowTheBoundOfMessagesUntilTheNetworkIsTheBottleneck) {
  for (const int nodes : {1, 2, 4, 16}) {
    const std::string cluster =
        fmt::format("workers {{ machine: \"hgx-h100\" count: {} }}", nodes) +
        (nodes > 1 ? kOneSwitch : "");
    const FabricGraph graph = fabric_on(cluster);
    const Task task{CollectiveKind::kAllReduce, 0, Bytes(1 << 30)};
    const double ratio =
        to_us(*bound_with_switches(graph, task)) / to_us(bandwidth_bound(graph, task)->time);
    EXPECT_LE(ratio, 1 + 1e-9) << nodes;
    if (nodes < 16) {
      EXPECT_LT(ratio, 0.9) << nodes;
    } else {
      EXPECT_NEAR(ratio, 1, 1e-9) << nodes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, OnCluster,
    testing::Values("workers { machine: \"dgx1-v100\" }",
                    std::string("workers { machine: \"hgx-h100\" count: 4 }") + kOneSwitch,
                    std::string("workers { machine: \"dgx-a100\" count: 2 }") + kOneSwitch, kRing,
                    kSixGpus, kFatTree));

TEST(FabricOfCluster, RefusesClustersWithoutASchedule) {
  const auto refused = [](const std::string& cluster) {
    const auto scenario = scenario_on(cluster);
    EXPECT_TRUE(scenario) << cluster;
    const auto graph = fabric_of(*scenario->cluster);
    EXPECT_FALSE(graph) << cluster;
    return graph ? ProblemCode::kInvalid : graph.error().problems().front().kind.code;
  };
  EXPECT_EQ(refused("workers { machine: \"dgx-a100\" replicas: 1 }"), ProblemCode::kTooSmall);
  EXPECT_EQ(refused(std::string("workers { machine: \"dgx-a100\" count: 125000 }") + kOneSwitch),
            ProblemCode::kTooLarge);
}

}  // namespace
}  // namespace tutti::core::synthesis
