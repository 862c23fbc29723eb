#include "core/cluster/cluster.h"

#include <gtest/gtest.h>

#include "core/cluster/group.h"
#include "core/cluster/machine_file.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

std::shared_ptr<const Machine> machine(const std::string& name) {
  return *load_machine(test::source_folder() + "/scenarios/machines/" + name + ".textproto");
}

Cluster two_kinds() {
  return Cluster({{machine("dgx1-v100"), 2}, {machine("hgx-h100"), 3}}, 8,
                 Network{Network::Kind::kOneSwitch, std::nullopt, microseconds(3), ""});
}

std::string way(const Cluster& cluster, PartId from, PartId to, Staging staging) {
  std::vector<Hop> route;
  if (!cluster.append_route(from, to, staging, route)) return "none";
  std::string text = cluster.part_name(from);
  for (const Hop& hop : route) text += (hop.staged ? " | " : " ") + cluster.part_name(hop.to);
  return text;
}

TEST(Cluster, NumbersLinksByWorkerAndFindsThemByNumber) {
  const Cluster cluster = two_kinds();
  std::int64_t last_worker = 0;
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const Hop link = cluster.link(id);
    EXPECT_EQ(link.link, id);
    const std::int64_t worker = std::max(link.from.worker, link.to.worker);
    EXPECT_GE(worker, last_worker);
    last_worker = worker;
  }
  EXPECT_EQ(last_worker, 4);
  EXPECT_EQ(cluster.replicas(), 40);
  EXPECT_EQ(cluster.part_name(cluster.replica(17)), "w2/gpu1");
}

TEST(Cluster, WithoutANetworkNicsHaveNoPorts) {
  const Cluster cluster({{machine("dgx1-v100"), 1}}, 8, std::nullopt);
  EXPECT_EQ(cluster.links(), static_cast<LinkId>(cluster.machine(0).links().size()));
  for (LinkId id = 0; id < cluster.links(); ++id)
    EXPECT_NE(cluster.link(id).kind, LinkKind::kNetwork);
}

TEST(Cluster, NetworkRoutesUseTheNearestNics) {
  const Cluster cluster = two_kinds();
  EXPECT_EQ(way(cluster, cluster.replica(3), cluster.replica(14), Staging::kDirect),
            "w0/gpu3 w0/plx1 w0/nic1 network w1/nic3 w1/plx3 w1/gpu6");
  EXPECT_EQ(way(cluster, cluster.replica(0), cluster.replica(16), Staging::kDirect),
            "w0/gpu0 w0/plx0 w0/nic0 network w2/nic0 w2/plx0 w2/gpu0");
}

TEST(Cluster, StagedRoutesStopInTheHostMemoryOfBothWorkers) {
  const Cluster cluster = two_kinds();
  EXPECT_EQ(way(cluster, cluster.replica(3), cluster.replica(14), Staging::kViaHost),
            "w0/gpu3 w0/plx1 w0/cpu0 | w0/plx0 w0/nic0 network w1/nic0 w1/plx0 w1/cpu0 | w1/cpu1 "
            "w1/plx3 w1/gpu6");
  EXPECT_EQ(way(cluster, cluster.host(0), cluster.replica(8), Staging::kViaHost),
            "w0/cpu0 w0/plx0 w0/nic0 network w1/nic0 w1/plx0 w1/cpu0 | w1/plx0 w1/gpu0")
      << "a CPU's own messages are in host memory already";
  EXPECT_EQ(way(cluster, cluster.replica(0), cluster.replica(1), Staging::kViaHost),
            "w0/gpu0 w0/gpu1")
      << "inside a worker nothing is staged";
}

TEST(Cluster, OnRailsTheSendersNicDeterminesTheReceiversNic) {
  const Cluster cluster({{machine("dgx1-v100"), 2}}, 8,
                        Network{Network::Kind::kRails, std::nullopt, microseconds(3), ""});
  EXPECT_EQ(way(cluster, cluster.replica(2), cluster.replica(15), Staging::kDirect),
            "w0/gpu2 w0/plx1 w0/nic1 network w1/nic1 w1/plx1 w1/cpu0 w1/cpu1 w1/plx3 w1/gpu7");
}

TEST(Cluster, PortLinksHaveThePortBandwidthAndHalfTheLatency) {
  const Cluster cluster(
      {{machine("dgx1-v100"), 2}}, 8,
      Network{Network::Kind::kOneSwitch, Bandwidth(3'125'000'000), Time(1001), ""});
  std::vector<Hop> route;
  ASSERT_TRUE(
      cluster.append_route(cluster.replica(0), cluster.replica(8), Staging::kDirect, route));
  Time latency;
  for (const Hop& hop : route) {
    if (hop.kind != LinkKind::kNetwork) continue;
    EXPECT_EQ(hop.bandwidth, Bandwidth(3'125'000'000));
    latency += hop.latency;
  }
  EXPECT_EQ(latency, Time(1001)) << "both halves add up exactly";
}

TEST(Cluster, AMillionWorkersTakeNoMoreMemory) {
  const Cluster cluster({{machine("hgx-h100"), 1'000'000}}, 8,
                        Network{Network::Kind::kOneSwitch, std::nullopt, microseconds(1), ""});
  const Group group = Group::of_cluster(cluster, true);
  EXPECT_EQ(group.size(), 9'000'000);
  EXPECT_EQ(cluster.part_name(group.device(7'999'999)), "w999999/gpu7");
  EXPECT_EQ(cluster.part_name(group.device(8'000'001)), "w1/cpu0") << "hosts follow the replicas";
  EXPECT_EQ(cluster.link_name(cluster.links() - 1), "network→w999999/nic7");
}

}  // namespace
}  // namespace tutti::core
