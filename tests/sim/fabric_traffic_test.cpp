// Messages over fat trees and dragonflies. Messages that share a link delay each other, and other
// messages do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim/network/network.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Bandwidth;
using core::Bytes;
using core::Cluster;
using core::NetworkModel;
using core::Time;

constexpr Bandwidth kPort(1'000'000'000);  // 1 byte per nanosecond
const test::PlainRates kRates{kPort, Time(), kPort};

struct Sent {
  std::int64_t from, to, bytes;
};

/// Returns the arrival time of each message if all are sent at the same time.
class Traffic {
 public:
  Traffic(const Cluster& cluster, NetworkModel model, const std::vector<Sent>& messages)
      : network_(cluster, model, LinkRange{0, cluster.links()}, true), arrived_(messages.size()) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const core::PartId from{static_cast<std::int32_t>(messages[m].from), 0};
      const core::PartId to{static_cast<std::int32_t>(messages[m].to), 0};
      const std::int32_t path =
          network_.paths().unicast(from, to, core::Staging::kDirect, core::Engine::kCpu);
      const CausalChain none;
      network_.send(path, Bytes(messages[m].bytes), Time(), m,
                    Address{0, static_cast<std::uint32_t>(m)}, &none, events_);
    }
    while (!events_.empty()) {
      const Event event = events_.pop();
      switch (event.kind) {
        case EventKind::kHop: network_.reach(event, events_); break;
        case EventKind::kShare: network_.share(event, events_); break;
        case EventKind::kDeliver:
          arrived_[network_.deliver(event).address.connection] = event.time;
          break;
        default: break;
      }
    }
  }

  [[nodiscard]] const std::vector<Time>& arrived() const { return arrived_; }
  [[nodiscard]] Time last() const { return *std::max_element(arrived_.begin(), arrived_.end()); }
  [[nodiscard]] std::int64_t load(core::LinkId link) {
    return network_.loads().total(link).count();
  }

 private:
  Network network_;
  EventQueue events_;
  std::vector<Time> arrived_;
};

constexpr NetworkModel kModels[] = {NetworkModel::kFifo, NetworkModel::kFair};
constexpr std::int64_t kBytes = 1'000'000;
const Time kAlone = core::nanoseconds(kBytes);             // over a port
const Time kLatency = core::nanoseconds(1'000 + 2 * 100);  // over a leaf, a spine and a leaf

/// Two leaves of four workers and one spine, with an oversubscription of 4:1. The four ports of a
/// leaf share an uplink with the bandwidth of one port. Each worker of the first leaf sends to its
/// counterpart on the second, which takes four times as long over the uplink as over a port.
TEST(FatTreeTraffic, PermutationsWaitForOversubscribedUplinks) {
  const auto cluster = test::plain_cluster(8, test::fat_tree(4, 1, kPort), 1, kRates);
  const std::vector<Sent> shifted{{0, 4, kBytes}, {1, 5, kBytes}, {2, 6, kBytes}, {3, 7, kBytes}};
  for (const NetworkModel model : kModels) {
    Traffic traffic(*cluster, model, shifted);
    EXPECT_EQ(traffic.last(), 4 * kAlone + kLatency);
    EXPECT_EQ(traffic.load(0), 4 * kBytes) << cluster->link_name(0);
  }
  // With fifo, the messages arrive one by one. With fair, they all arrive at the same time.
  const Traffic fifo(*cluster, NetworkModel::kFifo, shifted),
      fair(*cluster, NetworkModel::kFair, shifted);
  for (int m = 0; m < 4; ++m) EXPECT_EQ(fifo.arrived()[m], (m + 1) * kAlone + kLatency);
  for (const Time at : fair.arrived()) EXPECT_EQ(at, 4 * kAlone + kLatency);
  // Within a leaf or over a perfect fabric, all messages take the time of one.
  for (const NetworkModel model : kModels) {
    const Traffic inside(*cluster, model,
                         {{0, 1, kBytes}, {1, 2, kBytes}, {2, 3, kBytes}, {3, 0, kBytes}});
    EXPECT_EQ(inside.last(), kAlone + core::nanoseconds(1'000));
  }
  EXPECT_EQ(Traffic(*cluster, NetworkModel::kIdeal, shifted).last(), kAlone + kLatency);
}

/// With 2:1, each uplink has twice the bandwidth of a port, and carries two flows at full speed.
TEST(FatTreeTraffic, TrafficBetweenLeavesIsSlowedByTheOversubscription) {
  for (const std::int64_t ratio : {1, 2, 4}) {
    const auto cluster = test::plain_cluster(
        8, test::fat_tree(4, 1, Bandwidth(4 * kPort.count() / ratio)), 1, kRates);
    std::vector<Sent> shifted;
    for (std::int64_t w = 0; w < 8; ++w) shifted.push_back({w, (w + 4) % 8, kBytes});
    EXPECT_EQ(Traffic(*cluster, NetworkModel::kFair, shifted).last(), ratio * kAlone + kLatency)
        << ratio << ":1";
  }
}

/// Seven workers send to the eighth. If the uplink is wide, its port is the bottleneck; if the
/// uplink is narrow, the uplink is.
TEST(FatTreeTraffic, IncastIsLimitedByTheNarrowerOfPortAndUplink) {
  const std::vector<Sent> incast{{1, 0, kBytes}, {2, 0, kBytes}, {3, 0, kBytes}, {4, 0, kBytes},
                                 {5, 0, kBytes}, {6, 0, kBytes}, {7, 0, kBytes}};
  const auto last = [&](Bandwidth uplink, NetworkModel model) {
    return Traffic(*test::plain_cluster(8, test::fat_tree(4, 1, uplink), 1, kRates), model, incast)
        .last();
  };
  const Time port = 7 * kAlone,
             narrow = 4 * 4 * kAlone;  // four messages over a quarter of a port
  for (const NetworkModel model : kModels) {
    EXPECT_GE(last(Bandwidth(4 * kPort.count()), model), port);
    EXPECT_LE(last(Bandwidth(4 * kPort.count()), model), port + kLatency);
    EXPECT_GE(last(Bandwidth(kPort.count() / 4), model), narrow);
  }
  EXPECT_EQ(last(Bandwidth(kPort.count() / 4), NetworkModel::kFair), narrow + kLatency);
}

/// The bytes that are counted on the links must be those of the routes of all pairs.
TEST(FabricTraffic, AllToAllLoadsTheLinksOfItsRoutes) {
  const core::Network networks[] = {test::fat_tree(3, 2, kPort),
                                    test::dragonfly(1, 2, 2, kPort, kPort)};
  for (const core::Network& network : networks) {
    const auto cluster = test::plain_cluster(8, network, 1, kRates);
    std::vector<Sent> all;
    std::map<core::LinkId, std::int64_t> expected;
    for (std::int64_t a = 0; a < 8; ++a) {
      for (std::int64_t b = 0; b < 8; ++b) {
        if (a == b) continue;
        all.push_back({a, b, 1'000 + 10 * a + b});
        std::vector<core::Hop> hops;
        ASSERT_TRUE(cluster->append_route({static_cast<std::int32_t>(a), 0},
                                          {static_cast<std::int32_t>(b), 0}, core::Staging::kDirect,
                                          hops));
        for (const core::Hop& hop : hops) expected[hop.link] += all.back().bytes;
      }
    }
    for (const NetworkModel model :
         {NetworkModel::kFifo, NetworkModel::kFair, NetworkModel::kIdeal}) {
      Traffic traffic(*cluster, model, all);
      for (core::LinkId id = 0; id < cluster->links(); ++id)
        EXPECT_EQ(traffic.load(id), expected[id]) << cluster->link_name(id);
    }
  }
}

/// Two groups of two workers are connected by one link. The two messages between them share it,
/// whatever other links there are.
TEST(DragonflyTraffic, TrafficBetweenTwoGroupsSharesTheirOneLink) {
  const auto cluster = test::plain_cluster(8, test::dragonfly(1, 2, 2, kPort, kPort), 1, kRates);
  ASSERT_EQ(cluster->fabric()->describe(), "dragonfly of 4 groups of 2 routers");
  for (const NetworkModel model : kModels) {
    const Traffic two(*cluster, model, {{0, 2, kBytes}, {1, 3, kBytes}});
    EXPECT_GE(two.last(), 2 * kAlone);
    EXPECT_LE(two.last(), 2 * kAlone + core::nanoseconds(1'000 + 300 + 200));
    const Traffic apart(*cluster, model, {{0, 2, kBytes}, {4, 6, kBytes}});
    EXPECT_LE(apart.last(), kAlone + core::nanoseconds(1'000 + 300 + 200))
        << "other groups, another link";
  }
}

}  // namespace
}  // namespace tutti::sim
