// Sections of a route, on which a message is served ahead of time if nothing else can interfere.
// Sections must not change results by a picosecond. So each case is run with the longest possible
// sections, and again with one event per hop.

#include "sim/network/sections.h"

#include <gtest/gtest.h>

#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/in_switch.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/base/random.h"
#include "sim/interpreter/interpreter.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Bandwidth;
using core::Cluster;
using core::Collective;
using core::Time;

/// A collective, and the start times of its ranks.
struct Started {
  Collective collective;
  std::vector<Time> start;
};

struct Outcome {
  std::vector<std::vector<Time>> ends;  ///< by collective and rank
  std::vector<core::Breakdown> parts;   ///< of all critical paths, if causal chains are kept
  std::vector<core::Bytes> totals;      ///< by link
  std::vector<std::vector<std::int64_t>> bins;
  std::int64_t events = 0;
};

enum class Lines { kAsLongAsCanBe, kNone };

struct How {
  core::NetworkModel model = core::NetworkModel::kFifo;
  bool causal_chains = false;
  bool bins = false;
  std::vector<core::LinkChange> changes;
};

class Together : private CollectiveListener {
 public:
  Together(const Cluster& cluster, const std::vector<Started>& all, const How& how, Lines lines)
      : how_(how),
        network_(cluster, how.model, how.bins ? LinkRange{0, cluster.links()} : LinkRange{},
                 how.causal_chains, LinkHealth(cluster, how.changes)),
        devices_(cluster),
        interpreter_(network_, devices_, events_, false) {
    if (lines == Lines::kAsLongAsCanBe) {
      for (const Started& one : all) interpreter_.expect(one.collective, [] { return true; });
      network_.expect_no_other();
    }
    for (const Started& one : all) {
      const std::uint32_t instance = interpreter_.open(one.collective, *this);
      outcome_.ends.emplace_back(one.start.size(), core::kNever);
      for (std::size_t r = 0; r < one.start.size(); ++r)
        events_.push({one.start[r], r, EventKind::kStart, instance, static_cast<std::uint32_t>(r)});
    }
  }

  Outcome run() {
    for (; !events_.empty(); ++outcome_.events) {
      const Event event = events_.pop();
      switch (event.kind) {
        case EventKind::kStart:
          interpreter_.start(event.a, static_cast<core::Rank>(event.b), event.time);
          break;
        case EventKind::kLane: interpreter_.go_on(event); break;
        case EventKind::kHop: network_.reach(event, events_); break;
        case EventKind::kDeliver: interpreter_.deliver(event); break;
        case EventKind::kArrive: interpreter_.arrive(event); break;
        default: ADD_FAILURE() << "an event of another kind";
      }
    }
    const LinkLoads& loads = network_.loads();
    for (core::LinkId link = 0; link < loads.links(); ++link) {
      outcome_.totals.push_back(loads.total(link));
      outcome_.bins.push_back(loads.bins(link));
    }
    return outcome_;
  }

 private:
  void rank_done(std::uint32_t instance, core::Rank rank, Time now,
                 const CausalChain& causal_chain) override {
    outcome_.ends[instance][rank] = now;
    if (how_.causal_chains) outcome_.parts.push_back(causal_chain.parts);
  }
  void step_done(const StepDone&) override {}

  How how_;
  EventQueue events_;
  Network network_;
  Devices devices_;
  Interpreter interpreter_;
  Outcome outcome_;
};

/// Returns workers with two GPUs, and a CPU behind a PCIe switch with a card. All rates are random,
/// so that wide and narrow links occur in every order.
std::shared_ptr<const Cluster> random_cluster(core::Random& random, int workers) {
  const auto rate = [&] {
    return Bandwidth(1'000'000'007 * static_cast<std::int64_t>(1 + random.below(4)));
  };
  const auto latency = [&] { return Time(static_cast<std::int64_t>(random.below(3)) * 777'777); };
  std::vector<core::Part> parts(5);
  const core::PartKind kinds[] = {core::PartKind::kGpu, core::PartKind::kGpu, core::PartKind::kCpu,
                                  core::PartKind::kPcieSwitch, core::PartKind::kNic};
  const char* const names[] = {"gpu0", "gpu1", "cpu0", "plx", "nic0"};
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].name = names[p];
    parts[p].kind = kinds[p];
    parts[p].device = {rate(), rate(), rate(), 1, {}};
  }
  parts[4].nic = rate();
  std::vector<core::MachineLink> links;
  for (const int p : {0, 1, 2, 4}) {
    links.push_back({p, 3, core::LinkKind::kPcie, rate(), latency(), "test"});
    links.push_back({3, p, core::LinkKind::kPcie, rate(), latency(), "test"});
  }
  auto machine = std::make_shared<const core::Machine>("random", std::move(parts), std::move(links),
                                                       std::vector<core::RingOrder>{},
                                                       std::vector<core::RingOrder>{});
  return std::make_shared<const Cluster>(
      std::vector<core::WorkerGroup>{{machine, workers}}, 2,
      core::Network{core::Network::Kind::kOneSwitch, std::nullopt, latency(), "test"});
}

std::unique_ptr<const core::Schedule> any_schedule(core::Random& random, std::int32_t ranks,
                                                   std::int64_t elements) {
  const auto engine = random.below(2) == 0 ? core::Engine::kKernel : core::Engine::kCpu;
  const bool power_of_two = (ranks & (ranks - 1)) == 0;
  switch (random.below(power_of_two ? 3 : 2)) {
    case 0: return core::ring_all_reduce(ranks, elements);
    case 2: return core::halving_doubling_all_reduce(ranks, elements, engine);
    default: {
      std::vector<core::Rank> servers;
      for (core::Rank r = 0; r < ranks; ++r) {
        if (random.below(2) == 0 || servers.empty()) servers.push_back(r);
      }
      return core::shuffle_all_reduce(ranks, ranks, servers, elements, engine, engine);
    }
  }
}

std::vector<Started> any_collectives(core::Random& random, const Cluster& cluster, int count) {
  std::vector<Started> all;
  for (int i = 0; i < count; ++i) {
    const auto elements = static_cast<std::int64_t>(random.below(5'000));
    const auto ranks = static_cast<std::int32_t>(cluster.replicas());
    Started one{{core::Group::of_cluster(cluster, false), any_schedule(random, ranks, elements),
                 core::DataType::kFloat32, elements,
                 random.below(2) == 0 ? core::Staging::kDirect : core::Staging::kViaHost, ranks},
                {}};
    for (std::int32_t r = 0; r < ranks; ++r)
      one.start.push_back(Time(static_cast<std::int64_t>(random.below(20'000'000))));
    all.push_back(std::move(one));
  }
  return all;
}

void expect_same(const Cluster& cluster, const std::vector<Started>& all, const How& how,
                 const std::string& what) {
  const Outcome in_line = Together(cluster, all, how, Lines::kAsLongAsCanBe).run();
  const Outcome hop_by_hop = Together(cluster, all, how, Lines::kNone).run();
  EXPECT_EQ(in_line.ends, hop_by_hop.ends) << what;
  EXPECT_EQ(in_line.totals, hop_by_hop.totals) << what;
  EXPECT_EQ(in_line.bins, hop_by_hop.bins) << what;
  EXPECT_EQ(in_line.parts.size(), hop_by_hop.parts.size()) << what;
  for (std::size_t i = 0; i < in_line.parts.size() && i < hop_by_hop.parts.size(); ++i)
    EXPECT_EQ(in_line.parts[i].total(), hop_by_hop.parts[i].total()) << what;
  EXPECT_LE(in_line.events, hop_by_hop.events) << what;
}

TEST(Sections, ConcurrentCollectivesTakeTheTimesOfAHopByHopSimulation) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    core::Random random(seed);
    const auto cluster = random_cluster(random, static_cast<int>(2 + random.below(4)));
    const std::vector<Started> all =
        any_collectives(random, *cluster, static_cast<int>(1 + random.below(3)));
    How how;
    how.model = random.below(4) == 0 ? core::NetworkModel::kIdeal : core::NetworkModel::kFifo;
    how.causal_chains = random.below(2) == 0;
    how.bins = random.below(2) == 0;
    expect_same(*cluster, all, how,
                "seed " + std::to_string(seed) +
                    (how.model == core::NetworkModel::kIdeal ? " ideal" : " fifo"));
  }
}

TEST(Sections, LinksThatDegradeOrFailGiveTheTimesOfAHopByHopSimulation) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    core::Random random(seed);
    const auto cluster = random_cluster(random, 3);
    const std::vector<Started> all = any_collectives(random, *cluster, 2);
    How how;
    how.causal_chains = random.below(2) == 0;
    for (int i = 0; i < 4; ++i) {
      core::LinkChange change;
      change.link =
          static_cast<core::LinkId>(random.below(static_cast<std::uint64_t>(cluster->links())));
      change.at = Time((i + 1) * std::int64_t{5'000'000});
      change.share_ppm = static_cast<std::int64_t>(random.below(3)) * 400'000;
      how.changes.push_back(change);
    }
    expect_same(*cluster, all, how, "seed " + std::to_string(seed));
  }
}

TEST(Sections, MulticastAndReductionInSwitchesAreSimulatedHopByHop) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    core::Random random(seed);
    const Cluster cluster({{test::switch_machine(4, {}, true), 1}}, 4, std::nullopt);
    std::vector<Started> all = any_collectives(random, cluster, 2);
    all[0].collective.schedule = core::in_switch_all_reduce(4, all[0].collective.elements);
    How how;
    how.causal_chains = random.below(2) == 0;
    expect_same(cluster, all, how, "seed " + std::to_string(seed));
  }
}

TEST(Sections, ARingOfMachinesWithOneNicHasOneEventPerMessage) {
  test::PlainRates rates;
  rates.reduce = Bandwidth(0);
  const int ranks = 16;
  const auto cluster = test::plain_cluster(ranks, rates);
  const std::int64_t elements = 16'000;
  const Started ring{
      test::on_plain_cluster(*cluster, core::ring_all_reduce(ranks, elements), elements),
      std::vector<Time>(ranks)};
  const std::int64_t messages = 2 * ranks * (ranks - 1);
  const Outcome outcome = Together(*cluster, {ring}, {}, Lines::kAsLongAsCanBe).run();
  EXPECT_LE(outcome.events, messages + 2 * ranks)
      << "besides: each rank starts, and ends when its last buffer is free";
  EXPECT_GT(Together(*cluster, {ring}, {}, Lines::kNone).run().events, 4 * messages);
}

TEST(SectionsDeath, AMessageOverAnUndeclaredRouteAborts) {
  const auto cluster = test::plain_cluster(3);
  Network network(*cluster, core::NetworkModel::kFifo, {}, false);
  const std::int32_t known =
      network.paths().unicast({0, 0}, {1, 0}, core::Staging::kDirect, core::Engine::kKernel);
  const std::int32_t other =
      network.paths().unicast({2, 0}, {1, 0}, core::Staging::kDirect, core::Engine::kKernel);
  network.expect(known);
  network.expect_no_other();
  EventQueue events;
  EXPECT_DEATH(network.send(other, core::Bytes(8), Time(), 0, Address{}, nullptr, events),
               "not announced");
}

}  // namespace
}  // namespace tutti::sim
