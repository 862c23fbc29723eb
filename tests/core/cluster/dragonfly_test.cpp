#include "core/cluster/dragonfly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

constexpr Bandwidth kLocal(10'000'000'000);
constexpr Bandwidth kGlobal(5'000'000'000);

struct Size {
  std::int64_t workers;
  std::int64_t per_router;
  int routers;
  int globals;
};

/// Dragonflies of several shapes: canonical ones (one link to each other group), ones with more and
/// with fewer links, trunked ones, one with a single group, and one with a single router.
constexpr Size kSizes[] = {{72, 2, 4, 2}, {36, 1, 4, 2}, {40, 2, 4, 2}, {7, 1, 1, 6},
                           {24, 2, 3, 4}, {6, 1, 3, 1},  {5, 5, 1, 1},  {12, 1, 2, 5}};

Dragonfly fly(const Size& s, PathChoice choice = {}) {
  return {s.workers,
          {s.per_router, s.routers, s.globals, kLocal, kGlobal, nanoseconds(100), nanoseconds(300)},
          choice};
}

std::vector<std::int64_t> route(const Fabric& fabric, std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> links;
  fabric.append_route({from, 0}, {to, 0}, links);
  return links;
}

TEST(Dragonfly, RoutesHaveAtMostTwoLocalLinksAndOneGlobalLink) {
  for (const Size& size : kSizes) {
    const Dragonfly fabric = fly(size);
    for (std::int64_t a = 0; a < size.workers; ++a) {
      for (std::int64_t b = 0; b < size.workers; ++b) {
        std::int32_t at = fabric.switch_of({a, 0});
        std::string kinds;
        for (const std::int64_t id : route(fabric, a, b)) {
          const Fabric::Link link = fabric.link(id);
          ASSERT_EQ(link.from, at);
          at = link.to;
          kinds += link.bandwidth == kGlobal ? 'G' : 'L';
        }
        ASSERT_EQ(at, fabric.switch_of({b, 0}));
        const bool same_group =
            fabric.switch_of({a, 0}) / size.routers == fabric.switch_of({b, 0}) / size.routers;
        const std::set<std::string> allowed = same_group
                                                  ? std::set<std::string>{"", "L"}
                                                  : std::set<std::string>{"G", "LG", "GL", "LGL"};
        EXPECT_TRUE(allowed.contains(kinds)) << kinds;
      }
    }
  }
}

TEST(Dragonfly, AllPairsOfGroupsHaveTheSameNumberOfLinksInBothDirections) {
  for (const Size& size : kSizes) {
    const Dragonfly fabric = fly(size);
    const std::int64_t groups = fabric.switches() / size.routers;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> joined, between;
    for (std::int64_t id = 0; id < fabric.links(); ++id) {
      const Fabric::Link link = fabric.link(id);
      ASSERT_NE(link.from, link.to);
      ++joined[{link.from, link.to}];
      const std::int32_t a = link.from / size.routers, b = link.to / size.routers;
      EXPECT_EQ(link.bandwidth, a == b ? kLocal : kGlobal);
      if (a != b) ++between[{a, b}];
      const auto both = fabric.links_between(link.from, link.to);
      EXPECT_EQ(std::count(both.begin(), both.end(), id), 1);
    }
    for (const auto& [ends, count] : joined) {
      EXPECT_EQ((joined[{ends.second, ends.first}]), count) << "full duplex";
      if (ends.first / size.routers == ends.second / size.routers) {
        EXPECT_EQ(count, 1);
      }
    }
    const std::int64_t each = groups == 1 ? 0 : size.routers * size.globals / (groups - 1);
    EXPECT_EQ(static_cast<std::int64_t>(between.size()), groups * (groups - 1));
    for (const auto& [pair, count] : between) EXPECT_EQ(count, each);
    // No router has more links to other groups than global ports.
    std::map<std::int32_t, int> ports;
    for (std::int64_t id = 0; id < fabric.links(); ++id) {
      if (fabric.link(id).bandwidth == kGlobal) {
        EXPECT_LE(++ports[fabric.link(id).from], size.globals);
      }
    }
    for (std::int32_t id = 0; id < fabric.switches(); ++id)
      EXPECT_EQ(fabric.find(fabric.name(id)), id);
    EXPECT_FALSE(fabric.find("g0r99"));
    EXPECT_FALSE(fabric.find("g00r0"));
    EXPECT_FALSE(fabric.find("network"));
  }
}

/// Returns the route found by a slow search over all walks of a local, a global and a local link.
/// Exactly one walk reaches the destination.
std::vector<std::int64_t> by_search(const Dragonfly& fabric, int routers, std::int32_t from,
                                    std::int32_t to) {
  if (from == to) return {};
  std::vector<std::vector<std::int64_t>> walks;
  const auto is_global = [&](std::int64_t id) {
    return fabric.link(id).from / routers != fabric.link(id).to / routers;
  };
  for (std::int64_t id = 0; id < fabric.links(); ++id) {
    if (!is_global(id) && fabric.link(id).from == from && fabric.link(id).to == to)
      walks.push_back({id});
  }
  for (std::int64_t g = 0; g < fabric.links(); ++g) {
    if (!is_global(g) || from / routers == to / routers) continue;
    std::vector<std::int64_t> walk;
    bool whole = true;
    const auto go = [&](std::int32_t a, std::int32_t b) {
      if (a == b) return;
      bool found = false;
      for (std::int64_t id = 0; id < fabric.links(); ++id) {
        if (is_global(id) || fabric.link(id).from != a || fabric.link(id).to != b) continue;
        walk.push_back(id);
        found = true;
      }
      whole = whole && found;
    };
    go(from, fabric.link(g).from);
    walk.push_back(g);
    go(fabric.link(g).to, to);
    if (whole) walks.push_back(walk);
  }
  EXPECT_EQ(walks.size(), 1u);
  return walks.front();
}

TEST(Dragonfly, LoadsOfAnAllToAllMatchASearchOverAllRoutes) {
  const Size size{36, 1, 4, 2};  // nine groups, one link per pair: the only route is shortest
  const Dragonfly fabric = fly(size);
  std::map<std::int64_t, std::int64_t> load, expected;
  for (std::int64_t a = 0; a < size.workers; ++a) {
    for (std::int64_t b = 0; b < size.workers; ++b) {
      for (const std::int64_t id : route(fabric, a, b)) ++load[id];
      for (const std::int64_t id : by_search(fabric, size.routers, static_cast<std::int32_t>(a),
                                             static_cast<std::int32_t>(b)))
        ++expected[id];
    }
  }
  EXPECT_EQ(load, expected);
  // Between each pair of groups with four routers, 16 messages use the only link.
  for (const auto& [id, messages] : load) {
    if (fabric.link(id).bandwidth == kGlobal) {
      EXPECT_EQ(messages, 4 * 4);
    }
  }
}

TEST(Dragonfly, UsesAllLinksBetweenTwoGroups) {
  const Size size{24, 2, 3, 4};  // four groups, four links between each pair
  const Dragonfly fabric = fly(size);
  std::set<std::int64_t> used;
  for (std::int64_t a = 0; a < size.workers; ++a) {
    for (std::int64_t b = 0; b < size.workers; ++b) {
      for (const std::int64_t id : route(fabric, a, b)) {
        if (fabric.link(id).bandwidth == kGlobal) used.insert(id);
      }
    }
  }
  EXPECT_EQ(used.size(), 4u * 3 * 4);
  EXPECT_EQ(fabric.domains().outward, Bandwidth(12 * kGlobal.count()))
      << "each group has twelve links to others";
  EXPECT_EQ(fabric.domains().workers, 6);
}

TEST(Cluster, NamesTheRoutersOfADragonfly) {
  const auto cluster = test::plain_cluster(72, test::dragonfly(2, 4, 2, kLocal, kGlobal));
  std::vector<Hop> hops;
  ASSERT_TRUE(cluster->append_route({0, 0}, {71, 0}, Staging::kDirect, hops));
  std::string way;
  for (const Hop& hop : hops) way += cluster->part_name(hop.to) + " ";
  // The last router of group 0 has the link to group 8, the last of its eight neighbours. Seen from
  // group 8, group 0 is the first neighbour.
  EXPECT_EQ(way, "w0/nic0 g0r0 g0r3 g8r0 g8r3 w71/nic0 w71/cpu0 ");
}

}  // namespace
}  // namespace tutti::core
