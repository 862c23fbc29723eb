// The time that hosts need for messages. The tests compare closed forms for one message and for
// many, under fifo and fair. Folded and memoized runs must equal complete ones, and networks
// without TCP must be unaffected.

#include "core/cluster/host_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/random.h"
#include "tests/sim/simulated.h"

namespace tutti::sim {
namespace {

using core::Scenario;
using core::Summary;
using core::Time;
using test::one_of;
using test::read;
using test::simulated;
using test::summary_values;

/// Returns a scenario of two CPU hosts that all-reduce a buffer by a ring. Each host sends one
/// chunk, twice.
std::string two_hosts(const std::string& hosts, const std::string& model, std::int64_t elements,
                      const std::string& strategy = "algorithm: \"ring\" staging: DIRECT") {
  return "cluster { workers { machine: \"host\" count: 2 } network { kind: ONE_SWITCH latency_us: "
         "20 transport: TCP "
         "host_transport { " +
         hosts +
         " } } machine { name: \"host\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 1e6 "
         "threads: 2 } "
         "nic { name: \"nic0\" bandwidth_gb_per_s: 2 } "
         "link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 16 latency_us: 0 } } "
         "}\n"
         "workload { variable { name: \"a\" shape: " +
         std::to_string(elements) + " } update_ms: 0 }\nstrategy { " + strategy +
         " }\nrun { steps: 1 network_model: " + model + " }";
}

double step_us(const std::string& text) {
  const Scenario scenario = read(text);
  return core::to_us(simulated(scenario, Folds::kNever)->step_time());
}

constexpr std::int64_t kElements = 2'000'000;             // 8 MB, chunks of 4 MB
constexpr double kWire = 4e6 / 2e3, kThread = 4e6 / 1e3;  // us at 2 and 1 GB/s

TEST(HostTransport, AStreamedMessageTakesTheSlowerOfWireAndThreads) {
  for (const char* const model : {"FIFO", "FAIR"}) {
    const std::string hosts =
        "library: SOCKETS send_us_per_message: 30 receive_us_per_message: 50 thread_gb_per_s: 1";
    EXPECT_NEAR(step_us(two_hosts(hosts, model, kElements)), 2 * (kThread + 20 + 30 + 50), 5)
        << model;
    // Threads that are faster than the wire do not affect the time.
    const std::string fast =
        "library: SOCKETS send_us_per_message: 30 receive_us_per_message: 50 thread_gb_per_s: 100";
    EXPECT_NEAR(step_us(two_hosts(fast, model, kElements)), 2 * (kWire + 20 + 30 + 50), 5) << model;
  }
}

TEST(HostTransport, GrpcParsesAMessageAfterItHasArrivedCompletely) {
  for (const char* const model : {"FIFO", "FAIR"}) {
    const std::string hosts =
        "library: GRPC send_us_per_message: 30 receive_us_per_message: 50 thread_gb_per_s: 1";
    EXPECT_NEAR(step_us(two_hosts(hosts, model, kElements)), 2 * (kWire + kThread + 20 + 30 + 50),
                5)
        << model;
  }
}

TEST(HostTransport, WithoutHostOverheadMessagesTakeTheTimeOfTheirLinks) {
  for (const char* const model : {"FIFO", "FAIR", "IDEAL"}) {
    EXPECT_NEAR(step_us(two_hosts("library: OFF", model, kElements)), 2 * (kWire + 20), 5) << model;
  }
  EXPECT_EQ(step_us(two_hosts("", "IDEAL", kElements)),
            step_us(two_hosts("library: OFF", "IDEAL", kElements)));
}

/// A ring of n hosts on one switch takes 2(n - 1) rounds, because its messages do not meet.
TEST(HostTransport, TheReportHasTheSumsOfItsParts) {
  const std::string hosts =
      "library: GRPC send_us_per_message: 30 receive_us_per_message: 50 thread_gb_per_s: 1";
  const Scenario scenario = read(two_hosts(hosts, "FIFO", kElements));
  const auto summary = simulated(scenario, Folds::kNever);
  Time of_hosts, all;
  for (const core::PathPiece& piece : summary->path()) {
    of_hosts += piece.parts.host;
    all += piece.parts.total();
  }
  EXPECT_NEAR(core::to_us(of_hosts), 2 * (kThread + 80), 1);
  EXPECT_GT(all, of_hosts);
  EXPECT_TRUE(test::says(*summary, "host transport over TCP: grpc"));
}

/// All workers push to one server, whose threads are shared by all connections.
TEST(HostTransport, ConnectionsShareTheThreadsOfAHost) {
  const auto servers = [](const char* model, int threads) {
    return "cluster { workers { machine: \"cpu-host\" count: 8 } workers { machine: \"cpu-host\" "
           "server: true } "
           "network { kind: ONE_SWITCH bandwidth_gb_per_s: 12 latency_us: 20 transport: TCP "
           "host_transport { "
           "thread_gb_per_s: 0.5 threads: " +
           std::to_string(threads) +
           " } } }\nworkload { variable { name: \"a\" shape: 1000000 } }\n"
           "strategy { tensorflow { parameter_server { } } }\nrun { steps: 2 network_model: " +
           model + " }";
  };
  for (const char* const model : {"FIFO", "FAIR"}) {
    const double one = step_us(servers(model, 1));
    const double eight = step_us(servers(model, 8));
    // Eight pushes of 4 MB at 0.5 GB/s run in sequence.
    EXPECT_GT(one, 8 * 8e3) << model;
    EXPECT_LT(eight, one / 2) << model;
  }
}

std::string random_tcp(core::Random& random, bool fair) {
  const auto pick = [&random](const std::vector<std::string>& of) { return one_of(random, of); };
  const int workers = 2 << random.below(3);
  const std::string machine = pick({"cpu-host", "dgx1-v100", "pcie4-a100", "ec2-g4dn-12xlarge"});
  const std::string algorithm = machine == "cpu-host"
                                    ? pick({"ring", "halving_doubling", "recursive_doubling"})
                                    : pick({"ring", "halving_doubling", "nccl", "nccl/ring"});
  std::string gradients;
  for (std::uint64_t g = 0, n = 1 + random.below(4); g < n; ++g) {
    gradients += "variable { name: \"g" + std::to_string(g) + "\" shape: [" +
                 std::to_string(1 + random.below(400)) + ", " + std::to_string(64 * workers) +
                 "] backward_ms: 0." + std::to_string(random.below(10)) + " } ";
  }
  std::string hosts = pick({"", "library: GRPC ", "library: MPI ", "library: NCCL ",
                            "library: SOCKETS ", "library: PS_LITE "});
  if (random.below(2) == 0) hosts += "threads: " + std::to_string(1 + random.below(4)) + " ";
  if (random.below(2) == 0) hosts += "host_gb_per_s: " + pick({"0.7", "2.5", "9"}) + " ";
  if (random.below(3) == 0) hosts += "receive_us_per_mb2: 8.5 ";
  if (random.below(3) == 0) hosts += "overlay: IPIP ";
  return "cluster { workers { machine: \"" + machine + "\" count: " + std::to_string(workers) +
         " } network { kind: " + pick({"ONE_SWITCH", "RAILS"}) + " link: \"" +
         pick({"ethernet-10", "ethernet-25", "ethernet-100"}) + "\" host_transport { " + hosts +
         "} } }\nworkload { " + gradients + "}\nstrategy { algorithm: \"" + algorithm + "\"" +
         pick({"", " bytes_per_pack: 400000", " launch: CONCURRENT"}) +
         " }\nrun { nccl: RINGS steps: " + std::to_string(2 + random.below(5)) +
         " network_model: " + (fair ? "FAIR" : "FIFO") + " }";
}

class HostTransportRuns : public testing::TestWithParam<int> {};

TEST_P(HostTransportRuns, FoldingDoesNotChangeTheResult) {
  core::Random random(static_cast<std::uint64_t>(GetParam()) * 7919 + 11);
  int folded = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string text = random_tcp(random, i % 3 == 0);
    const Scenario scenario = read(text);
    const auto one = simulated(scenario, Folds::kAlways);
    if (!one) continue;
    ++folded;
    ASSERT_EQ(summary_values(*one), summary_values(*simulated(scenario, Folds::kNever))) << text;
  }
  EXPECT_GE(folded, 3);
}

TEST_P(HostTransportRuns, SkippingStepsDoesNotChangeTheResult) {
  core::Random random(static_cast<std::uint64_t>(GetParam()) * 7919 + 12);
  for (int i = 0; i < 8; ++i) {
    const std::string text = random_tcp(random, false);
    const Scenario scenario = read(text);
    ASSERT_EQ(summary_values(*simulated(scenario, Folds::kNever, SkipRepeats::kAlways)),
              summary_values(*simulated(scenario, Folds::kNever, SkipRepeats::kNever)))
        << text;
  }
}

TEST_P(HostTransportRuns, HostOverheadNeverShortensAStep) {
  core::Random random(static_cast<std::uint64_t>(GetParam()) * 7919 + 13);
  for (int i = 0; i < 6; ++i) {
    const std::string text = random_tcp(random, i % 2 == 0);
    const Scenario with = read(text);
    Scenario without = with;
    core::Network network = *with.cluster->network();
    network.host.reset();
    without.cluster = std::make_shared<const core::Cluster>(with.cluster->with_network(network));
    // Messages wait for the threads of a host one after the other. Network model FAIR then divides
    // links among fewer messages, as model FIFO does, so some dependent messages begin earlier.
    double shortest = std::numeric_limits<double>::infinity();
    for (const core::NetworkModel model : {with.run.network_model, core::NetworkModel::kFifo}) {
      without.run.network_model = model;
      shortest = std::min(shortest, core::to_us(simulated(without, Folds::kNever)->step_time()));
    }
    EXPECT_GE(core::to_us(simulated(with, Folds::kNever)->step_time()), shortest) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, HostTransportRuns, testing::Range(0, 6));

}  // namespace
}  // namespace tutti::sim
