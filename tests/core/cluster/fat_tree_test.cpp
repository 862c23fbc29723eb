#include "core/cluster/fat_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

constexpr Bandwidth kUplink(10'000'000'000);

FatTree tree(std::int64_t workers, std::int64_t per_leaf, int spines, PathChoice choice = {}) {
  return {workers, {per_leaf, spines, false, 1, kUplink, nanoseconds(100)}, choice};
}

std::vector<std::int64_t> route(const Fabric& fabric, Card from, Card to) {
  std::vector<std::int64_t> links;
  fabric.append_route(from, to, links);
  return links;
}

/// Expects that the route is a connected sequence of links from the sender's switch to the
/// receiver's.
void expect_whole(const Fabric& fabric, Card from, Card to) {
  std::int32_t at = fabric.switch_of(from);
  for (const std::int64_t id : route(fabric, from, to)) {
    ASSERT_LT(id, fabric.links());
    ASSERT_EQ(fabric.link(id).from, at) << fabric.name(at);
    at = fabric.link(id).to;
  }
  ASSERT_EQ(at, fabric.switch_of(to));
}

TEST(FatTree, RoutesPassOneSpineUnlessBothNicsAreOnOneLeaf) {
  const FatTree fabric = tree(10, 4, 3);
  EXPECT_EQ(fabric.switches(), 3 + 3) << "the last leaf has two workers";
  EXPECT_EQ(fabric.links(), 2 * 3 * 3);
  for (std::int64_t a = 0; a < 10; ++a) {
    for (std::int64_t b = 0; b < 10; ++b) {
      expect_whole(fabric, {a, 0}, {b, 0});
      EXPECT_EQ(route(fabric, {a, 0}, {b, 0}).size(), a / 4 == b / 4 ? 0u : 2u);
    }
  }
}

TEST(FatTree, EveryLinkHasOneNumberAndIsFoundByItsSwitches) {
  const FatTree fabric = tree(16, 4, 3);
  std::set<std::pair<std::int32_t, std::int32_t>> ends;
  for (std::int64_t id = 0; id < fabric.links(); ++id) {
    const Fabric::Link link = fabric.link(id);
    EXPECT_TRUE(ends.insert({link.from, link.to}).second);
    const std::vector<std::int64_t> both = fabric.links_between(link.from, link.to);
    EXPECT_EQ(std::count(both.begin(), both.end(), id), 1);
    EXPECT_EQ(both.size(), 2u);
    EXPECT_EQ(link.bandwidth, kUplink);
  }
  EXPECT_TRUE(fabric.links_between(0, 1).empty()) << "leaves are not joined";
  EXPECT_TRUE(fabric.links_between(4, 5).empty()) << "nor spines";
  for (std::int32_t id = 0; id < fabric.switches(); ++id)
    EXPECT_EQ(fabric.find(fabric.name(id)), id);
  EXPECT_EQ(fabric.name(3), "leaf3");
  EXPECT_EQ(fabric.name(4), "spine0");
  for (const char* wrong :
       {"leaf4", "spine3", "leaf", "leaf01", "leaf-1", "w0/nic0", "network", "leaf1x", ""})
    EXPECT_FALSE(fabric.find(wrong)) << wrong;
}

TEST(FatTree, OnRailsNicsWithTheSameIndexAreOnOneLeaf) {
  const FatTree fabric(8, {4, 2, true, 3, kUplink, nanoseconds(100)}, {});
  EXPECT_EQ(fabric.switches(), 2 * 3 + 2);
  EXPECT_EQ(fabric.switch_of({0, 2}), fabric.switch_of({3, 2}));
  EXPECT_NE(fabric.switch_of({0, 2}), fabric.switch_of({4, 2}));
  EXPECT_NE(fabric.switch_of({0, 1}), fabric.switch_of({0, 2}));
  EXPECT_EQ(route(fabric, {0, 1}, {3, 1}).size(), 0u);
  EXPECT_EQ(route(fabric, {0, 1}, {0, 2}).size(), 2u) << "another rail, over a spine";
  EXPECT_EQ(fabric.domains().outward, Bandwidth(3 * 2 * kUplink.count()))
      << "four workers have three leaves";
}

/// Every card of a leaf sends to every card of all other leaves. Spine s carries the messages to
/// receivers whose number is s modulo the number of spines. If this number divides the number of
/// cards, all links carry the same load.
TEST(FatTree, RoutingByDestinationLoadsAllLinksEquallyInAnAllToAll) {
  const FatTree fabric = tree(24, 4, 2, {PathChoice::Rule::kDestination, 0, 1});
  std::map<std::int64_t, std::int64_t> load;
  for (std::int64_t a = 0; a < 24; ++a) {
    for (std::int64_t b = 0; b < 24; ++b) {
      for (const std::int64_t id : route(fabric, {a, 0}, {b, 0})) ++load[id];
    }
  }
  ASSERT_EQ(load.size(), static_cast<std::size_t>(fabric.links()));
  for (const auto& [id, messages] : load) EXPECT_EQ(messages, 4 * 20 / 2) << id;
}

/// A hash spreads routes randomly. Each of s spines gets n/s of n routes, within five standard
/// deviations.
TEST(FatTree, RoutingByHashSpreadsRoutesRandomlyBySeed) {
  const auto loads = [](std::uint64_t seed) {
    const FatTree fabric = tree(64, 16, 4, {PathChoice::Rule::kHash, seed, 1});
    std::map<std::int64_t, std::int64_t> load;
    for (std::int64_t a = 0; a < 64; ++a) {
      for (std::int64_t b = 0; b < 64; ++b) {
        for (const std::int64_t id : route(fabric, {a, 0}, {b, 0})) ++load[id];
      }
    }
    return load;
  };
  const auto load = loads(0);
  EXPECT_EQ(load.size(), 32u);
  const double ways = 16 * 48, mean = ways / 4, deviation = std::sqrt(ways * 0.25 * 0.75);
  for (const auto& [id, messages] : load)
    EXPECT_NEAR(static_cast<double>(messages), mean, 5 * deviation);
  EXPECT_EQ(load, loads(0)) << "always the same";
  EXPECT_NE(load, loads(1));
}

TEST(FatTree, APairOfNicsHasOneRoutePerDirection) {
  const FatTree fabric = tree(64, 8, 8);
  int identical = 0;
  for (std::int64_t a = 0; a < 8; ++a) {
    for (std::int64_t b = 8; b < 64; ++b) {
      EXPECT_EQ(route(fabric, {a, 0}, {b, 0}), route(fabric, {a, 0}, {b, 0}));
      const auto spine = [&](Card from, Card to) {
        return fabric.link(route(fabric, from, to).front()).to;
      };
      identical += spine({a, 0}, {b, 0}) == spine({b, 0}, {a, 0}) ? 1 : 0;
    }
  }
  EXPECT_GT(identical, 0);
  EXPECT_LT(identical, 8 * 56 / 4) << "one in eight";
}

TEST(Cluster, RoutesAMillionWorkersOverAFatTree) {
  const auto cluster = test::plain_cluster(1'000'000, test::fat_tree(32, 16, kUplink));
  std::vector<Hop> hops;
  ASSERT_TRUE(cluster->append_route({31, 0}, {999'999, 0}, Staging::kDirect, hops));
  std::string way;
  Time latency;
  for (const Hop& hop : hops) {
    way += cluster->part_name(hop.to) + " ";
    latency += hop.latency;
    const Hop same = cluster->link(hop.link);
    EXPECT_EQ(same.from, hop.from);
    EXPECT_EQ(same.to, hop.to);
  }
  const std::string spine = cluster->part_name(hops[2].to);
  EXPECT_EQ(way, "w31/nic0 leaf0 " + spine + " leaf31249 w999999/nic0 w999999/cpu0 ");
  EXPECT_EQ(latency, nanoseconds(1'000 + 2 * 100));
  EXPECT_EQ(cluster->switch_links(), 2 * 31'250 * 16);
  EXPECT_EQ(cluster->link_name(0), "leaf0→spine0");
  EXPECT_EQ(cluster->link_name(cluster->links() - 1), "leaf31249→w999999/nic0");
  EXPECT_EQ(cluster->widest_link(), test::PlainRates().link);
}

}  // namespace
}  // namespace tutti::core
