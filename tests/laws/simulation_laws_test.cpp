// Properties of simulations that must hold for every algorithm, on every cluster and under every
// network model: conservation of bytes, lower bounds, determinism, and agreement with other
// simulators.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/base/random.h"
#include "core/cluster/machine_file.h"
#include "core/strategy/bounds.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using core::Bytes;
using core::Cluster;
using core::Collective;
using core::DataType;
using core::Rank;
using core::Strategy;
using core::Time;

constexpr core::NetworkModel kModels[] = {core::NetworkModel::kIdeal, core::NetworkModel::kFifo,
                                          core::NetworkModel::kFair};

std::vector<std::shared_ptr<const Cluster>> clusters() {
  std::vector<std::shared_ptr<const Cluster>> all;
  const auto machine = [](const char* name) {
    return *core::load_machine(test::source_folder() + "/scenarios/machines/" + name +
                               ".textproto");
  };
  const core::Network one_switch{core::Network::Kind::kOneSwitch, std::nullopt,
                                 core::microseconds(2), ""};
  const core::Network rails{core::Network::Kind::kRails, core::Bandwidth(3'125'000'000),
                            core::microseconds(2), ""};
  for (const char* name : {"dgx1-v100", "dgx-a100", "hgx-h100", "pcie-l40s"}) {
    for (const int workers : {1, 2, 4}) {
      all.push_back(std::make_shared<const Cluster>(
          std::vector<core::WorkerGroup>{{machine(name), workers}}, 8, one_switch));
    }
    all.push_back(std::make_shared<const Cluster>(
        std::vector<core::WorkerGroup>{{machine(name), 3}}, 3, rails));
  }
  all.push_back(std::make_shared<const Cluster>(
      std::vector<core::WorkerGroup>{{machine("cpu-host"), 5}}, 1, one_switch));
  all.push_back(std::make_shared<const Cluster>(
      std::vector<core::WorkerGroup>{{machine("cpu-host"), 4}}, 2, one_switch));
  all.push_back(std::make_shared<const Cluster>(
      std::vector<core::WorkerGroup>{{machine("dgx1-v100"), 1}, {machine("hgx-h100"), 2}}, 8,
      one_switch));
  const core::Bandwidth slow(3'125'000'000);
  all.push_back(
      std::make_shared<const Cluster>(std::vector<core::WorkerGroup>{{machine("dgx1-v100"), 5}}, 8,
                                      test::fat_tree(2, 2, slow, true, 4)));
  all.push_back(std::make_shared<const Cluster>(
      std::vector<core::WorkerGroup>{{machine("cpu-host"), 7}}, 1, test::fat_tree(3, 1, slow)));
  all.push_back(
      std::make_shared<const Cluster>(std::vector<core::WorkerGroup>{{machine("cpu-host"), 8}}, 2,
                                      test::dragonfly(1, 2, 2, slow, slow)));
  return all;
}

/// Calls `visit` with the all-reduce of every algorithm that the cluster supports.
template <class Visit>
void for_each_collective(const Cluster& cluster, std::int64_t elements, Visit visit) {
  for (const std::string& name : core::algorithm_names()) {
    for (const int shards : {1, 2}) {
      Strategy s = Strategy::for_algorithm(*core::parse_algorithm(name));
      s.shards = shards;
      if (!core::problems_of(s, cluster).empty()) continue;
      visit(core::make_all_reduce(cluster, s, DataType::kFloat32, elements, 0),
            fmt::format("{} with {} shards, {} elements, {} x {}", name, shards, elements,
                        cluster.workers(), cluster.machine(0).name()));
    }
  }
}

TEST(Law, NothingIsEverBelowTheLowerBound) {
  for (const auto& cluster : clusters()) {
    for (const std::int64_t elements :
         {std::int64_t{1}, std::int64_t{1001}, std::int64_t{5'000'011}}) {
      for_each_collective(*cluster, elements,
                          [&](const Collective& collective, const std::string& what) {
                            for (const core::NetworkModel model : kModels) {
                              const core::Bound bound =
                                  core::all_reduce_bound(*cluster, Bytes(4 * elements), model);
                              EXPECT_GE(sim::run_alone(collective, model).end, bound.time)
                                  << what << ": " << bound.reason;
                            }
                          });
    }
  }
}

/// A switch sends exactly the bytes that it receives, summed over all links. The links of a device
/// carry the bytes that its steps send and receive.
TEST(Law, PartsSendTheBytesThatTheyReceive) {
  for (const auto& cluster : clusters()) {
    for_each_collective(*cluster, 100'003,
                        [&](const Collective& collective, const std::string& what) {
                          std::map<core::PartId, std::int64_t> balance;  // bytes in minus bytes out
                          for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
                            for (core::Lane l = 0; l < collective.schedule->lanes(r); ++l) {
                              for (std::int64_t i = 0; i < collective.schedule->steps(r, l); ++i) {
                                const core::Step step = collective.schedule->step(r, l, i);
                                if (!core::sends(step.kind)) continue;
                                const Rank to = step.to.rank(r, collective.schedule->ranks());
                                balance[collective.group.device(r)] -= 4 * step.source.count;
                                balance[collective.group.device(to)] += 4 * step.source.count;
                              }
                            }
                          }
                          for (const core::NetworkModel model : kModels) {
                            const sim::CollectiveRun run = sim::run_alone(collective, model);
                            std::map<core::PartId, std::int64_t> carried;
                            for (core::LinkId id = 0; id < cluster->links(); ++id) {
                              const core::Hop link = cluster->link(id);
                              carried[link.from] -= run.loads.total(id).count();
                              carried[link.to] += run.loads.total(id).count();
                            }
                            for (const auto& [part, net] : carried)
                              EXPECT_EQ(net, balance.contains(part) ? balance[part] : 0)
                                  << what << " at " << cluster->part_name(part);
                          }
                        });
  }
}

TEST(Law, TheCriticalPathExplainsEveryPicosecond) {
  for (const auto& cluster : clusters()) {
    for_each_collective(*cluster, 1'000'003,
                        [&](const Collective& collective, const std::string& what) {
                          for (const core::NetworkModel model : kModels) {
                            const sim::CollectiveRun run = sim::run_alone(collective, model);
                            EXPECT_EQ(run.causal_chain.parts.total(), run.end) << what;
                          }
                        });
  }
}

TEST(Law, FifoIsNeverFasterThanIdealOnOneSwitch) {
  // With the model ideal, a message can wait only at the port of its sender and at the port of its
  // receiver. With the model fifo, a message can also wait at other links.
  for (const int n : {2, 3, 8}) {
    const auto cluster = test::plain_cluster(n);
    for_each_collective(*cluster, 10'007,
                        [&](const Collective& collective, const std::string& what) {
                          EXPECT_GE(sim::run_alone(collective, core::NetworkModel::kFifo).end,
                                    sim::run_alone(collective, core::NetworkModel::kIdeal).end)
                              << what;
                        });
  }
}

/// If no two messages meet on a link, the network models fair and fifo give the same times.
TEST(Law, ARingTakesTheSameTimeInTheFifoAndFairModels) {
  for (const int n : {2, 3, 8, 13}) {
    for (const std::int64_t elements :
         {std::int64_t{1}, std::int64_t{n} + 1, std::int64_t{1'000'003}}) {
      const auto cluster = test::plain_cluster(n);
      const Collective ring =
          test::on_plain_cluster(*cluster, core::ring_all_reduce(n, elements), elements);
      EXPECT_EQ(sim::run_alone(ring, core::NetworkModel::kFair).rank_end,
                sim::run_alone(ring, core::NetworkModel::kFifo).rank_end)
          << n << " ranks, " << elements;
    }
  }
}

TEST(Law, RenamingRanksChangesNothing) {
  core::Random random(4);
  for (const int n : {2, 5, 8, 13}) {
    const auto cluster = test::plain_cluster(n + 2);
    for (const std::int64_t elements :
         {std::int64_t{1}, std::int64_t{n} + 1, std::int64_t{100'003}}) {
      std::vector<std::shared_ptr<const core::Schedule>> schedules;
      schedules.push_back(core::ring_all_reduce(n, elements));
      schedules.push_back(
          core::shuffle_all_reduce(n, n, {0}, elements, core::Engine::kCpu, core::Engine::kCpu));
      schedules.push_back(core::shuffle_all_reduce(n + 2, n, {n, n + 1}, elements,
                                                   core::Engine::kCpu, core::Engine::kCpu));
      if ((n & (n - 1)) == 0) {
        schedules.push_back(core::halving_doubling_all_reduce(n, elements));
        schedules.push_back(core::recursive_doubling_all_reduce(n, elements));
      }
      for (const auto& schedule : schedules) {
        std::vector<int> places(static_cast<std::size_t>(schedule->ranks()));
        std::iota(places.begin(), places.end(), 0);
        for (const core::NetworkModel model : kModels) {
          const Time named =
              sim::run_alone(test::on_plain_cluster(*cluster, schedule, elements, places), model)
                  .end;
          for (int round = 0; round < 5; ++round) {
            std::vector<int> renamed = places;
            for (std::size_t i = renamed.size(); i > 1; --i)
              std::swap(renamed[i - 1], renamed[random.below(i)]);
            EXPECT_EQ(
                sim::run_alone(test::on_plain_cluster(*cluster, schedule, elements, renamed), model)
                    .end,
                named)
                << n << " ranks, " << elements;
          }
        }
      }
    }
  }
}

TEST(Law, MoreBytesAndSlowerLinksTakeLonger) {
  for (const int n : {2, 5, 8}) {
    Time before;
    for (const std::int64_t elements : {0, 1, 100, 10'000, 1'000'000}) {
      const auto cluster = test::plain_cluster(n);
      const Time now = sim::run_alone(test::on_plain_cluster(
                                          *cluster, core::ring_all_reduce(n, elements), elements),
                                      core::NetworkModel::kFifo)
                           .end;
      EXPECT_GE(now, before);
      before = now;
    }
    before = Time();
    for (const std::int64_t rate : {std::int64_t{100'000'000'000}, std::int64_t{10'000'000'000},
                                    std::int64_t{1'000'000'000}}) {
      test::PlainRates rates;
      rates.link = core::Bandwidth(rate);
      const auto cluster = test::plain_cluster(n, rates);
      const Time now = sim::run_alone(test::on_plain_cluster(
                                          *cluster, core::ring_all_reduce(n, 1'000'000), 1'000'000),
                                      core::NetworkModel::kFifo)
                           .end;
      EXPECT_GT(now, before);
      before = now;
    }
  }
}

TEST(Law, RecordingCausesDoesNotChangeTheTime) {
  for (const auto& cluster : clusters()) {
    for_each_collective(*cluster, 4099, [&](const Collective& collective, const std::string& what) {
      for (const core::NetworkModel model : {core::NetworkModel::kFifo, core::NetworkModel::kFair})
        EXPECT_EQ(sim::run_alone(collective, model, {}, true).end,
                  sim::run_alone(collective, model, {}, false).end)
            << what;
    });
  }
}

// --- results of other simulators for the same rings ---

/// A ring all-reduce over links of 25 GB/s and 1 us, with free additions. ASTRA-sim, LogGOPSim and
/// SimGrid were measured with this scenario (docs/validation.md).
struct PeerCase {
  int ranks;
  std::int64_t mebibytes;
  double seconds;  ///< exact result 2(N - 1)(1 us + floor(S/N) / 25 GB/s); the results of all three
                   ///< simulators deviate from it by at most 2·10⁻⁴
};
/// Prints a case for GoogleTest, which would otherwise print its bytes.
void PrintTo(const PeerCase& c, std::ostream* out) {
  *out << c.ranks << " ranks, " << c.mebibytes << " MiB";
}

constexpr PeerCase kPeerCases[] = {
    {8, 64, 0.004711620},    {8, 256, 0.018804482},    {8, 1024, 0.075175928},
    {64, 64, 0.005410823},   {64, 256, 0.021265292},   {64, 1024, 0.084683169},
    {256, 64, 0.005857738},  {256, 256, 0.021900950},  {256, 1024, 0.086073802},
    {1024, 64, 0.007409466}, {1024, 256, 0.023499865}, {1024, 1024, 0.087861460}};

test::PlainRates peer_rates() {
  return {core::Bandwidth(25'000'000'000), core::microseconds(1),
          core::Bandwidth(1'000'000'000'000'000'000)};
}

class PeerRing : public testing::TestWithParam<PeerCase> {};

TEST_P(PeerRing, MatchesPeersAndTheClosedForm) {
  const PeerCase c = GetParam();
  const auto cluster = test::plain_cluster(c.ranks, peer_rates());
  const std::int64_t elements = c.mebibytes * (1 << 20) / 4;
  const Time end = sim::run_alone(test::on_plain_cluster(
                                      *cluster, core::ring_all_reduce(c.ranks, elements), elements),
                                  core::NetworkModel::kFifo, {}, false)
                       .end;
  EXPECT_NEAR(static_cast<double>(end.count()) * 1e-12, c.seconds, 1e-4 * c.seconds);
}

/// In the same ring, rank i starts (1 + (i · 7919 mod 2000)) us late. The collective then takes
/// longer by the latest of these start times.
TEST_P(PeerRing, StaggeredStartsLengthenTheRingByTheLatestStart) {
  const PeerCase c = GetParam();
  const auto cluster = test::plain_cluster(c.ranks, peer_rates());
  std::vector<Time> start;
  Time latest;
  for (std::int64_t i = 0; i < c.ranks; ++i) {
    start.push_back(core::microseconds(1 + i * 7919 % 2000));
    latest = std::max(latest, start.back());
  }
  const std::int64_t elements = c.mebibytes * (1 << 20) / 4;
  const Time end = sim::run_alone(test::on_plain_cluster(
                                      *cluster, core::ring_all_reduce(c.ranks, elements), elements),
                                  core::NetworkModel::kFifo, start, false)
                       .end;
  const double expected = static_cast<double>(latest.count()) * 1e-12 + c.seconds;
  EXPECT_NEAR(static_cast<double>(end.count()) * 1e-12, expected, 1e-4 * expected);
}

INSTANTIATE_TEST_SUITE_P(SpeedTable, PeerRing, testing::ValuesIn(kPeerCases), [](const auto& i) {
  return fmt::format("{}ranks{}MiB", i.param.ranks, i.param.mebibytes);
});

}  // namespace
}  // namespace tutti
