// The network of a scenario: fat trees, dragonflies and their defaults, the routes that result, and
// the problems that are reported for wrong or contradicting fields.

#include "core/scenario/network_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cluster/network_link.h"
#include "core/scenario/scenario.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Expected<Scenario> read(const std::string& network, const std::string& machine = "cpu-host",
                        int count = 16, const std::string& rest = "") {
  return read_scenario(
      fmt::format(
          "cluster {{ workers {{ machine: \"{}\" count: {} }} network {{ {} }} }} workload {{ "
          "variable {{ name: \"v\" shape: 100 }} update_ms: 0 }} strategy {{ algorithm: "
          "\"ring\" }} {}",
          machine, count, network, rest),
      "s", test::shipped_library());
}

Network network_of(const std::string& text, const std::string& machine = "cpu-host") {
  const auto scenario = read(text, machine);
  EXPECT_TRUE(scenario) << scenario.error().message();
  return scenario ? *scenario->cluster->network() : Network{};
}

std::vector<std::string> problems(const std::string& text, const std::string& machine = "cpu-host",
                                  int count = 16) {
  return test::kinds_of(read(text, machine, count));
}

const std::string kTree =
    "kind: FAT_TREE latency_us: 2 switch_us: 0.5 fat_tree { workers_per_leaf: 4 spines: 2 ";

TEST(NetworkOfScenario, ComputesUplinksFromPortsSpinesAndOversubscription) {
  EXPECT_EQ(network_of(kTree + "}").fat_tree.uplink, Bandwidth(4 * 3'125'000'000 / 2))
      << "non-blocking";
  EXPECT_EQ(network_of(kTree + "oversubscription: 4 }").fat_tree.uplink,
            Bandwidth(4 * 3'125'000'000 / 2 / 4));
  EXPECT_EQ(network_of(kTree + "uplink_gb_per_s: 1.5 }").fat_tree.uplink, Bandwidth(1'500'000'000));
  EXPECT_EQ(network_of(kTree + "} bandwidth_gb_per_s: 1").fat_tree.uplink, Bandwidth(2'000'000'000))
      << "of narrow ports";
  // All four cards of 12.5 GB/s are on one leaf. With rails, a leaf has one card of each worker.
  EXPECT_EQ(network_of(kTree + "}", "dgx1-v100").fat_tree.uplink,
            Bandwidth(4 * 4 * 12'500'000'000 / 2));
  EXPECT_EQ(network_of(kTree + "rails: true }", "dgx1-v100").fat_tree.uplink,
            Bandwidth(4 * 12'500'000'000 / 2));
  EXPECT_EQ(network_of(kTree + "}").fat_tree.switch_latency, nanoseconds(500));
}

TEST(NetworkOfScenario, HostOverheadAppliesOnlyToTcp) {
  EXPECT_FALSE(network_of("kind: ONE_SWITCH latency_us: 2").host);
  EXPECT_FALSE(network_of("kind: ONE_SWITCH link: \"edr\"").host);
  ASSERT_TRUE(network_of("kind: ONE_SWITCH link: \"ethernet-25\"").host);
  EXPECT_EQ(network_of("kind: ONE_SWITCH link: \"ethernet-25\"").host->library, HostLibrary::kGrpc);
  const Network mpi = network_of(
      "kind: ONE_SWITCH link: \"ethernet-25\" host_transport { library: MPI threads: 2 }");
  EXPECT_EQ(mpi.host->library, HostLibrary::kMpi);
  EXPECT_EQ(mpi.host->receive.threads, 2);
  EXPECT_FALSE(
      network_of("kind: ONE_SWITCH link: \"ethernet-25\" host_transport { library: OFF }").host);
  EXPECT_THAT(problems("kind: ONE_SWITCH link: \"edr\" host_transport { }"),
              ElementsAre("unused Network.host_transport"));
  EXPECT_THAT(
      problems("kind: ONE_SWITCH link: \"ethernet-25\" host_transport { overlay_factor: 2 }"),
      ElementsAre("unused HostTransport.overlay_factor"));
}

/// With an oversubscription of r:1, a leaf's links to the spines carry 1/r of the bandwidth of its
/// ports. The ratio that is computed from the graph's links must be r.
TEST(NetworkOfScenario, TheLinksOfAFatTreeHaveTheStatedOversubscription) {
  for (const double ratio : {1.0, 2.0, 5.0}) {
    const auto scenario = read(kTree + fmt::format("oversubscription: {} }}", ratio));
    ASSERT_TRUE(scenario);
    const Cluster& cluster = *scenario->cluster;
    std::int64_t up = 0, ports = 0;
    for (LinkId id = 0; id < cluster.links(); ++id) {
      const Hop link = cluster.link(id);
      const std::string from = cluster.part_name(link.from), to = cluster.part_name(link.to);
      if (from == "leaf0" && to.starts_with("spine")) up += link.bandwidth.count();
      if (to == "leaf0" && from.find("nic") != std::string::npos) ports += link.bandwidth.count();
    }
    EXPECT_EQ(ports, 4 * 3'125'000'000);
    EXPECT_DOUBLE_EQ(static_cast<double>(ports) / static_cast<double>(up), ratio);
  }
}

/// If a field is wrong, a default replaces it, and the resulting network may be impossible. Here
/// each of eight groups would have five links. So no network is built after a wrong field.
TEST(NetworkOfScenario, ReportsAnInvalidFieldWithoutBuildingTheNetwork) {
  const auto fly = [](const std::string& rest) {
    return problems(
        "kind: DRAGONFLY latency_us: 2 switch_us: 0.5 dragonfly { routers_per_group: 3 " + rest +
            " }",
        "cpu-host", 24);
  };
  EXPECT_THAT(fly("global_links_per_router: 3.5"),
              ElementsAre("wrong-type Dragonfly.global_links_per_router"));
  EXPECT_THAT(fly("global_links_per_router: 1 workers_per_router: \"many\""),
              ElementsAre("wrong-type Dragonfly.workers_per_router"));
  EXPECT_THAT(fly("global_links_per_router: -1"),
              ElementsAre("too-small Dragonfly.global_links_per_router"));
  EXPECT_THAT(problems(kTree + "uplink_gb_per_s: wide }", "cpu-host", 24), testing::SizeIs(1));
}

TEST(NetworkOfScenario, DragonflyLinksHaveThePortsBandwidthByDefault) {
  const Network plain = network_of(
      "kind: DRAGONFLY latency_us: 2 switch_us: 0.5 dragonfly { workers_per_router: 2 "
      "routers_per_group: 4 "
      "global_links_per_router: 1 }");
  EXPECT_EQ(plain.dragonfly.local, Bandwidth(3'125'000'000));
  EXPECT_EQ(plain.dragonfly.global, Bandwidth(3'125'000'000));
  EXPECT_EQ(plain.dragonfly.global_latency, nanoseconds(500));
  const Network stated = network_of(
      "kind: DRAGONFLY latency_us: 2 switch_us: 0.5 path_choice: DESTINATION dragonfly { "
      "routers_per_group: 4 "
      "global_links_per_router: 1 local_gb_per_s: 5 global_gb_per_s: 4 global_us: 0.9 }");
  EXPECT_EQ(stated.dragonfly.workers_per_router, 1);
  EXPECT_EQ(stated.dragonfly.local, Bandwidth(5'000'000'000));
  EXPECT_EQ(stated.dragonfly.global, Bandwidth(4'000'000'000));
  EXPECT_EQ(stated.dragonfly.global_latency, nanoseconds(900));
  EXPECT_EQ(stated.choice.rule, PathChoice::Rule::kDestination);
}

TEST(NetworkOfScenario, LinkKindsProvideDefaults) {
  const Network edr = network_of("kind: ONE_SWITCH link: \"edr\"", "dgx1-v100");
  EXPECT_EQ(edr.port_bandwidth, bandwidth_from_gb_per_s(12.5 * 4096 / 4122))
      << "26 bytes of headers per packet";
  EXPECT_EQ(edr.latency, nanoseconds(1'500));
  EXPECT_FALSE(edr.connection);
  EXPECT_THAT(edr.source, HasSubstr("InfiniBand architecture specification"));
  const Network stated =
      network_of("kind: ONE_SWITCH link: \"ena\" latency_us: 7 bandwidth_gb_per_s: 2", "dgx1-v100");
  EXPECT_EQ(stated.latency, nanoseconds(7'000));
  EXPECT_EQ(stated.port_bandwidth, Bandwidth(2'000'000'000));
  EXPECT_EQ(stated.connection, Bandwidth(1'250'000'000)) << "10 Gb/s per flow, from the kind";
  const Network tree =
      network_of("kind: FAT_TREE link: \"hdr\" fat_tree { workers_per_leaf: 4 spines: 2 }");
  EXPECT_EQ(tree.fat_tree.switch_latency, nanoseconds(180));
}

TEST(NetworkOfScenario, ReportsAllErrors) {
  EXPECT_THAT(problems("latency_us: 1"), ElementsAre("missing Network.kind"));
  EXPECT_THAT(problems("kind: ONE_SWITCH"), ElementsAre("missing Network.latency_us"));
  EXPECT_THAT(problems("kind: ONE_SWITCH link: \"edt\""), ElementsAre("unknown-name Network.link"));
  EXPECT_THAT(problems("kind: ONE_SWITCH latency_us: 1 switch_us: 1 path_choice: DESTINATION "
                       "path_seed: 1 fat_tree {} "
                       "dragonfly {}"),
              UnorderedElementsAre("unused Network.fat_tree", "unused Network.dragonfly",
                                   "unused Network.switch_us", "unused Network.path_choice",
                                   "unused Network.path_seed"));
  EXPECT_THAT(problems("kind: FAT_TREE latency_us: 1"), ElementsAre("missing Network.switch_us"));
  EXPECT_THAT(problems("kind: FAT_TREE link: \"edr\""), ElementsAre("missing Network.fat_tree"));
  EXPECT_THAT(problems("kind: FAT_TREE link: \"edr\" fat_tree { spines: 0 oversubscription: 2 "
                       "uplink_gb_per_s: 3 }"),
              ElementsAre("missing FatTree.workers_per_leaf", "too-small FatTree.spines",
                          "conflict FatTree.uplink_gb_per_s"));
  EXPECT_THAT(problems(kTree + "oversubscription: 0 }"),
              ElementsAre("too-small FatTree.oversubscription"));
  EXPECT_THAT(problems("kind: FAT_TREE link: \"edr\" fat_tree { workers_per_leaf: 1 spines: 4096 }",
                       "cpu-host", 10'000),
              ElementsAre("too-large FatTree"));
  EXPECT_THAT(problems("kind: DRAGONFLY link: \"edr\""), ElementsAre("missing Network.dragonfly"));
  // 16 workers make 8 groups, so each group needs at least 7 links to other groups.
  const auto links = [](int of_router) {
    return problems(
        fmt::format("kind: DRAGONFLY link: \"edr\" dragonfly {{ routers_per_group: 2 "
                    "global_links_per_router: {} }}",
                    of_router));
  };
  EXPECT_THAT(links(3), ElementsAre("too-small Dragonfly.global_links_per_router"));
  EXPECT_THAT(links(4), testing::IsEmpty());
  // A value that is too large is not also reported as too small.
  EXPECT_THAT(links(5000), ElementsAre("too-large Dragonfly.global_links_per_router"));
}

TEST(NetworkOfScenario, ConditionsCanNameItsSwitches) {
  const auto with = [](const std::string& from, const std::string& to) {
    return read(
        kTree + "}", "cpu-host", 16,
        "conditions { link { from: \"" + from + "\" to: \"" + to + "\" bandwidth_share: 0.5 } }");
  };
  const auto spine = with("spine1", "leaf3");
  ASSERT_TRUE(spine) << spine.error().message();
  ASSERT_EQ(spine->run.conditions.links.size(), 2u);
  EXPECT_EQ(spine->cluster->link_name(spine->run.conditions.links[0].link), "leaf3→spine1");
  EXPECT_EQ(spine->cluster->link_name(spine->run.conditions.links[1].link), "spine1→leaf3");
  const auto port = with("w5/nic0", "leaf1");
  ASSERT_TRUE(port) << port.error().message();
  EXPECT_EQ(port->run.conditions.links.size(), 2u);
  EXPECT_THAT(test::kinds_of(with("w5/nic0", "leaf2")),
              ElementsAre("unknown-name LinkChange.from"));
  EXPECT_THAT(test::kinds_of(with("leaf0", "leaf2")), ElementsAre("unknown-name LinkChange.from"));
  const auto of_one_switch = with("w5/nic0", "network");
  EXPECT_THAT(test::kinds_of(of_one_switch), ElementsAre("unknown-name LinkChange.to"));
  // The message names the existing switches.
  for (const char* name : {"leaf0", "spine1"})
    EXPECT_THAT(of_one_switch.error().problems().front().text, HasSubstr(name));
}

TEST(ShippedLinks, HaveLessBandwidthThanTheirLineRate) {
  for (const std::string& name : test::shipped_library().names(Library::Kind::kLink)) {
    const auto file = test::shipped_library().read(Library::Kind::kLink, name, "");
    ASSERT_TRUE(file && *file);
    const auto link = read_network_link((*file)->text, (*file)->path);
    ASSERT_TRUE(link) << link.error().message();
    EXPECT_EQ(link->name, name) << "a kind is found by its file's name";
    EXPECT_FALSE(link->source.empty());
    EXPECT_GT(link->switch_latency, Time());
    EXPECT_LT(link->switch_latency, link->latency);
  }
  EXPECT_THAT(test::shipped_library().names(Library::Kind::kLink),
              testing::IsSupersetOf({"ethernet-1", "ethernet-10", "ethernet-25", "ethernet-100",
                                     "edr", "hdr", "ndr", "roce-100", "efa", "slingshot-11"}));
}

TEST(NetworkLinkFile, ReportsMissingFields) {
  const auto link = read_network_link(
      "name: \"x\" port_gbit_per_s: 0 packet_payload_bytes: 0 latency_us: 1", "f");
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().problems().size(), 5u) << link.error().message();
  EXPECT_THAT(test::kinds_of(link),
              testing::IsSupersetOf(
                  {"missing NetworkLink.source", "too-small NetworkLink.port_gbit_per_s"}));
}

}  // namespace
}  // namespace tutti::core
