// The network models ideal, fifo and fair: the arrival times of messages that share links, ports or
// copy engines, staging through hosts, limits of connections, and properties that hold for all
// models.

#include "sim/network/network.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/random.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Bandwidth;
using core::Bytes;
using core::Cluster;
using core::Engine;
using core::microseconds;
using core::PartId;
using core::Staging;
using core::Time;

constexpr core::NetworkModel kModels[] = {core::NetworkModel::kFifo, core::NetworkModel::kIdeal,
                                          core::NetworkModel::kFair};

/// Sends messages, and records the time of each delivery.
class Wire {
 public:
  Wire(const Cluster& cluster, core::NetworkModel model)
      : network(cluster, model, LinkRange{0, cluster.links()}, true) {}

  std::uint32_t send(PartId from, PartId to, std::int64_t bytes, Time at,
                     Staging staging = Staging::kDirect, Engine engine = Engine::kKernel) {
    advance(at);
    const std::uint32_t id = next_++;
    const CausalChain causal_chain;
    buffer_free[id] = network.send(network.paths().unicast(from, to, staging, engine), Bytes(bytes),
                                   at, id, Address{0, id}, &causal_chain, events);
    sent[id] = at;
    return id;
  }

  void finish() { advance(core::kNever); }

  Network network;
  EventQueue events;
  std::map<std::uint32_t, Time> sent, delivered, buffer_free;

 private:
  void advance(Time upto) {
    while (!events.empty()) {
      const Event event = events.pop();
      if (event.time > upto) {
        events.push(event);
        return;
      }
      if (event.kind == EventKind::kHop) {
        network.reach(event, events);
        continue;
      }
      if (event.kind == EventKind::kShare) {
        network.share(event, events);
        continue;
      }
      if (event.kind == EventKind::kSent) {
        buffer_free[network.departed(event).address.connection] = event.time;
        continue;
      }
      const Network::Arrival arrival = network.deliver(event);
      delivered[arrival.address.connection] = event.time;
      EXPECT_EQ(arrival.causal_chain->parts.total(), event.time - sent[arrival.address.connection])
          << "the causal chain covers the whole time";
    }
  }
  std::uint32_t next_ = 0;
};

/// Returns a machine with GPUs a and b on a slow link into a switch, and c behind a fast link. 1
/// GB/s is 1 byte per ns.
std::shared_ptr<const core::Machine> funnel(std::int64_t in, std::int64_t out) {
  std::vector<core::Part> parts(5);
  const std::vector<std::string> names{"a", "b", "c", "s", "cpu"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].name = names[i];
    parts[i].kind = i < 3 ? core::PartKind::kGpu
                          : (i == 3 ? core::PartKind::kPcieSwitch : core::PartKind::kCpu);
    parts[i].device = {
        Bandwidth(1'000'000'000), Bandwidth(1'000'000'000), Bandwidth(1'000'000'000), 1, {}};
  }
  std::vector<core::MachineLink> links;
  const auto join = [&](int from, int to, std::int64_t rate, Time latency) {
    links.push_back({from, to, core::LinkKind::kPcie, Bandwidth(rate), latency, ""});
    links.push_back({to, from, core::LinkKind::kPcie, Bandwidth(rate), latency, ""});
  };
  join(0, 3, in, core::nanoseconds(100));
  join(1, 3, in, core::nanoseconds(100));
  join(2, 3, out, core::nanoseconds(200));
  join(4, 3, in, core::nanoseconds(300));
  return std::make_shared<const core::Machine>(
      "funnel", parts, links, std::vector<core::RingOrder>{}, std::vector<core::RingOrder>{});
}

constexpr std::int64_t kByteAtNs = 1'000'000'000;  // 1 byte per ns
const PartId kA{0, 0}, kB{0, 1}, kC{0, 2}, kCpu{0, 4};

TEST(Fifo, ASingleMessageTakesLatenciesPlusBytesOverTheNarrowestLink) {
  for (const auto& [in, out] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {kByteAtNs, 4 * kByteAtNs}, {4 * kByteAtNs, kByteAtNs}, {kByteAtNs, kByteAtNs}}) {
    const Cluster cluster({{funnel(in, out), 1}}, 3, std::nullopt);
    Wire wire(cluster, core::NetworkModel::kFifo);
    wire.send(kA, kC, 1000, Time());
    wire.finish();
    EXPECT_EQ(wire.delivered[0], core::nanoseconds(300 + 1000));
    EXPECT_EQ(wire.buffer_free[0], core::nanoseconds(in == kByteAtNs ? 1000 : 250))
        << "the first link decides when the buffer is free";
  }
}

TEST(Fifo, SharedLinksServeMessagesInOrderOfArrival) {
  const Cluster cluster({{funnel(kByteAtNs, kByteAtNs), 1}}, 3, std::nullopt);
  Wire wire(cluster, core::NetworkModel::kFifo);
  wire.send(kA, kC, 1000, Time());
  wire.send(kB, kC, 1000, core::nanoseconds(10));
  wire.finish();
  EXPECT_EQ(wire.delivered[0], core::nanoseconds(1300));
  EXPECT_EQ(wire.delivered[1], core::nanoseconds(2300)) << "a whole message later, not 10 ns";
}

TEST(Fifo, ALaterMessageWithAShorterRouteMayArriveFirst) {
  const Cluster cluster({{funnel(kByteAtNs, kByteAtNs), 1}}, 3, std::nullopt);
  Wire wire(cluster, core::NetworkModel::kFifo);
  wire.send(kCpu, kC, 1000, Time());               // its first byte reaches the switch after 300 ns
  wire.send(kA, kC, 1000, core::nanoseconds(50));  // its first byte reaches the switch after 150 ns
  wire.finish();
  EXPECT_EQ(wire.delivered[1], core::nanoseconds(50 + 1300));
  EXPECT_EQ(wire.delivered[0], core::nanoseconds(50 + 2300));
}

TEST(Fifo, TransfersInOppositeDirectionsDoNotAffectEachOther) {
  const Cluster cluster({{funnel(kByteAtNs, kByteAtNs), 1}}, 3, std::nullopt);
  Wire wire(cluster, core::NetworkModel::kFifo);
  wire.send(kA, kC, 1000, Time());
  wire.send(kC, kA, 1000, Time());
  wire.finish();
  EXPECT_EQ(wire.delivered[0], core::nanoseconds(1300));
  EXPECT_EQ(wire.delivered[1], core::nanoseconds(1300));
}

TEST(Fifo, OneCopyEngineServesOneTransferAtATimeEvenOverDifferentLinks) {
  // Two GPUs are connected directly, and through a switch to a CPU. The copies of a to b and to the
  // CPU share a's copy engine.
  const auto machine = test::switch_machine(2);
  const Cluster cluster({{machine, 1}}, 2, std::nullopt);
  const PartId gpu0{0, 0}, gpu1{0, 1}, cpu{0, machine->cpus().front()};
  for (const Engine engine : {Engine::kKernel, Engine::kCopyEngine}) {
    Wire wire(cluster, core::NetworkModel::kFifo);
    wire.send(gpu0, gpu1, 1'000'000, Time(), Staging::kDirect, engine);
    wire.send(gpu0, cpu, 1'000'000, Time(), Staging::kDirect, engine);
    wire.finish();
    const Time alone =
        core::transfer_time(Bytes(1'000'000), Bandwidth(test::PlainRates{}.link.count() / 3));
    if (engine == Engine::kKernel) {
      EXPECT_LT(wire.delivered[1], alone + microseconds(10));
    } else {
      EXPECT_GT(wire.delivered[1], alone + microseconds(50)) << "behind the first";
    }
  }
}

TEST(Fair, ASingleMessageTakesLatenciesPlusBytesOverTheNarrowestLink) {
  for (const auto& [in, out] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {kByteAtNs, 4 * kByteAtNs}, {4 * kByteAtNs, kByteAtNs}}) {
    const Cluster cluster({{funnel(in, out), 1}}, 3, std::nullopt);
    Wire wire(cluster, core::NetworkModel::kFair);
    wire.send(kA, kC, 1000, Time());
    wire.finish();
    EXPECT_EQ(wire.delivered[0], core::nanoseconds(300 + 1000));
    EXPECT_EQ(wire.buffer_free[0], core::nanoseconds(1000))
        << "the narrowest link decides when the buffer is free";
  }
}

TEST(Fair, MessagesShareALinkWhileBothUseIt) {
  const Cluster cluster({{funnel(kByteAtNs, kByteAtNs), 1}}, 3, std::nullopt);
  Wire wire(cluster, core::NetworkModel::kFair);
  wire.send(kA, kC, 1000, Time());
  wire.send(kB, kC, 1000, core::nanoseconds(500));
  wire.send(kA, kCpu, 0, core::nanoseconds(600));
  wire.finish();
  EXPECT_EQ(wire.delivered[0], core::nanoseconds(500 + 1000 + 300))
      << "the second half at half the rate";
  EXPECT_EQ(wire.delivered[1], core::nanoseconds(1500 + 500 + 300))
      << "the first half at half the rate";
  EXPECT_EQ(wire.delivered[2], core::nanoseconds(600 + 400))
      << "an empty message needs no transfer";
}

TEST(Fair, CopyEnginesServeFreeLinksInParallel) {
  const auto machine = test::switch_machine(2);
  const Cluster cluster({{machine, 1}}, 2, std::nullopt);
  const PartId gpu0{0, 0}, gpu1{0, 1}, cpu{0, machine->cpus().front()};
  Wire wire(cluster, core::NetworkModel::kFair);
  wire.send(gpu0, gpu1, 1'000'000, Time(), Staging::kDirect, Engine::kCopyEngine);
  wire.send(gpu0, cpu, 1'000'000, Time(), Staging::kDirect, Engine::kCopyEngine);
  wire.finish();
  const Time half(test::PlainRates{}.latency.count() / 2);
  EXPECT_EQ(wire.delivered[0],
            core::transfer_time(Bytes(1'000'000), test::PlainRates{}.link) + 2 * half);
  EXPECT_EQ(wire.delivered[1],
            core::transfer_time(Bytes(1'000'000), Bandwidth(test::PlainRates{}.link.count() / 3)) +
                2 * half);
}

/// A connection is limited to 2 GB/s over ports of 5 GB/s. With fair sharing, one or two messages
/// to a port get 2 GB/s each, and three messages get 5/3 GB/s each. With fifo, messages follow each
/// other at 2 GB/s.
TEST(Connection, LimitsTheRateOfNetworkMessages) {
  const auto ends = [](std::optional<Bandwidth> connection, core::NetworkModel model,
                       int messages) {
    test::PlainRates rates;
    rates.link = Bandwidth(5 * kByteAtNs);
    rates.latency = Time();
    const auto plain = test::plain_cluster(4, rates);
    const Cluster cluster(
        plain->groups(), 1,
        core::Network{core::Network::Kind::kOneSwitch, std::nullopt, Time(), "", connection});
    Wire wire(cluster, model);
    for (int m = 0; m < messages; ++m)
      wire.send(cluster.replica(m), cluster.replica(3), 10'000, Time());
    wire.finish();
    return wire.delivered;
  };
  for (const core::NetworkModel model : kModels) {
    EXPECT_EQ(ends(std::nullopt, model, 1)[0], microseconds(2));
    EXPECT_EQ(ends(Bandwidth(2 * kByteAtNs), model, 1)[0], microseconds(5)) << to_string(model);
  }
  EXPECT_EQ(ends(Bandwidth(2 * kByteAtNs), core::NetworkModel::kFair, 2)[1], microseconds(5))
      << "both fit side by side";
  EXPECT_EQ(ends(Bandwidth(2 * kByteAtNs), core::NetworkModel::kFair, 3)[2], microseconds(6))
      << "5 / 3 GB/s each";
  EXPECT_EQ(ends(Bandwidth(2 * kByteAtNs), core::NetworkModel::kFifo, 2)[1], microseconds(10))
      << "in sequence they do not";
}

TEST(Staging, CopiesTheWholeMessageAtEachHost) {
  const auto machine = test::switch_machine(2);
  const Cluster cluster(
      {{machine, 2}}, 2,
      core::Network{core::Network::Kind::kOneSwitch, std::nullopt, microseconds(3), ""});
  const test::PlainRates rates;
  const Time pcie = core::transfer_time(Bytes(1'000'000), Bandwidth(rates.link.count() / 3));
  for (const core::NetworkModel model : kModels) {
    Wire wire(cluster, model);
    wire.send(cluster.replica(0), cluster.replica(2), 1'000'000, Time(), Staging::kViaHost,
              Engine::kCopyEngine);
    wire.finish();
    const Time latency(4 * 2 * (rates.latency.count() / 2));  // four PCIe stretches of two links
    EXPECT_EQ(wire.delivered[0], 3 * pcie + latency + microseconds(3))
        << "three copies, one after the other";
    Wire direct(cluster, model);
    direct.send(cluster.replica(0), cluster.replica(2), 1'000'000, Time(), Staging::kDirect);
    direct.finish();
    EXPECT_EQ(direct.delivered[0], pcie + Time(4 * (rates.latency.count() / 2)) + microseconds(3));
  }
}

TEST(Ideal, OnlyThePortsOfSenderAndReceiverHaveQueues) {
  const auto machine = test::switch_machine(4);
  const Cluster cluster({{machine, 1}}, 4, std::nullopt);
  const auto gpu = [](int i) { return PartId{0, i}; };
  const PartId cpu{0, machine->cpus().front()};
  const Time wire_time = core::transfer_time(Bytes(1000), test::PlainRates{}.link);
  const Time latency(2 * (test::PlainRates{}.latency.count() / 2));
  Wire wire(cluster, core::NetworkModel::kIdeal);
  wire.send(gpu(0), gpu(1), 1000, Time());
  wire.send(gpu(0), gpu(2), 1000, Time());  // queues behind the first message at the sender
  wire.send(gpu(3), gpu(2), 1000,
            Time());  // meets no message at the sender, but the second one at the receiver
  wire.send(gpu(0), cpu, 1000, Time());  // another kind of link, so another port
  wire.finish();
  EXPECT_EQ(wire.delivered[0], latency + wire_time);
  EXPECT_EQ(wire.delivered[2], latency + wire_time);
  EXPECT_EQ(wire.delivered[1], latency + 2 * wire_time);
  EXPECT_EQ(wire.delivered[3],
            Time(3 * (test::PlainRates{}.latency.count() / 2)) -
                Time(test::PlainRates{}.latency.count() / 2) +
                core::transfer_time(Bytes(1000), Bandwidth(test::PlainRates{}.link.count() / 3)));
}

// --- properties ---

TEST(NetworkLaws, ConserveBytesAndNeverSpeedUpMessages) {
  core::Random random(11);
  for (const core::NetworkModel model : kModels) {
    const auto machine = test::switch_machine(4);
    const Cluster cluster(
        {{machine, 3}}, 4,
        core::Network{core::Network::Kind::kOneSwitch, std::nullopt, microseconds(2), ""});
    Wire wire(cluster, model);
    std::map<std::uint32_t, Time> alone;
    std::map<core::LinkId, std::int64_t> expected;
    Time now;
    for (int i = 0; i < 500; ++i) {
      now += Time(static_cast<std::int64_t>(random.below(20'000'000)));
      const PartId from = cluster.replica(static_cast<std::int64_t>(random.below(12)));
      const PartId to = random.below(3) == 0
                            ? cluster.host(static_cast<std::int64_t>(random.below(3)))
                            : cluster.replica(static_cast<std::int64_t>(random.below(12)));
      if (from == to) continue;
      const auto bytes = static_cast<std::int64_t>(random.below(1'000'000));
      const Staging staging = random.below(2) == 0 ? Staging::kDirect : Staging::kViaHost;
      const std::uint32_t id = wire.send(from, to, bytes, now, staging, Engine::kCopyEngine);
      std::vector<core::Hop> route;
      ASSERT_TRUE(cluster.append_route(from, to, staging, route));
      Wire other(cluster, model);
      other.send(from, to, bytes, Time(), staging, Engine::kCopyEngine);
      other.finish();
      alone[id] = other.delivered[0];
      for (const core::Hop& hop : route) expected[hop.link] += bytes;
    }
    wire.finish();
    for (const auto& [id, time] : alone) EXPECT_GE(wire.delivered[id] - wire.sent[id], time);
    for (core::LinkId link = 0; link < cluster.links(); ++link) {
      EXPECT_EQ(wire.network.loads().total(link).count(), expected[link])
          << cluster.link_name(link);
      std::int64_t binned = 0;
      for (const std::int64_t bytes : wire.network.loads().bins(link)) binned += bytes;
      EXPECT_EQ(binned, expected[link]) << "bins of " << cluster.link_name(link);
    }
  }
}

TEST(LinkLoads, BinsGrowWithTheRunAndKeepAllBytes) {
  LinkLoads loads(2, {0, 1});
  core::Random random(2);
  std::int64_t total = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto start = static_cast<std::int64_t>(random.below(std::uint64_t{1} << (10 + i % 40)));
    const auto bytes = static_cast<std::int64_t>(random.below(10'000));
    loads.add(0, Bytes(bytes), Time(start),
              Time(start + static_cast<std::int64_t>(random.below(1'000'000))));
    loads.add(1, Bytes(1), Time(), Time(5));
    total += bytes;
  }
  std::int64_t binned = 0;
  for (const std::int64_t bytes : loads.bins(0)) binned += bytes;
  EXPECT_EQ(binned, total);
  EXPECT_EQ(loads.total(0), Bytes(total));
  EXPECT_EQ(loads.bins(0).size(), static_cast<std::size_t>(LinkLoads::kBins));
  EXPECT_TRUE(loads.bins(1).empty()) << "only the first link is binned";
  EXPECT_EQ(loads.total(1), Bytes(2000));
}

}  // namespace
}  // namespace tutti::sim
