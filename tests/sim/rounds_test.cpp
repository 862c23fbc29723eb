// If rounds repeat the previous ones, the simulator reports them without simulating them. The
// results must be the same to the picosecond.

#include "sim/interpreter/rounds.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/sim/simulated.h"

namespace tutti::sim {
namespace {

using core::Scenario;
using core::Summary;
using core::Time;
using test::read;
using test::says_rounds;
using test::simulated;
using test::summary_values;

/// Returns a random scenario with a ring over many workers and concurrent computation.
std::string random_rings(core::Random& random) {
  const auto one_of = [&random](const std::vector<std::string>& of) {
    return test::one_of(random, of);
  };
  const std::string machine = one_of({"cpu-host", "dgx1-v100", "dgx-a100", "pcie4-a100",
                                      "ec2-g4dn-12xlarge", "hgx-h100", "pcie-l40s"});
  const std::string algorithm =
      machine == "cpu-host" ? "ring" : one_of({"ring", "ring", "nccl", "nccl/ring"});
  std::string strategy = "algorithm: \"" + algorithm + "\" pad_packs: true";
  if (algorithm == "ring" && machine != "cpu-host" && random.below(3) == 0)
    strategy += " shards: 2";
  if (algorithm == "nccl") strategy += " channels: " + std::to_string(1 + random.below(2));
  if (random.below(3) == 0) strategy += " reduction: MEAN";
  if (random.below(3) == 0) strategy += " launch: CONCURRENT";
  std::string gradients;
  for (std::uint64_t g = 0, n = 1 + random.below(3); g < n; ++g) {
    gradients += "variable { name: \"g" + std::to_string(g) +
                 "\" shape: " + std::to_string(1000 + random.below(4'000'000)) +
                 " backward_ms: " + std::to_string(random.below(30)) + " } ";
  }
  if (random.below(2) == 0) strategy += " bytes_per_pack: 6000000";
  const std::uint64_t workers =
      machine == "cpu-host" ? 3000 + random.below(1000) : 300 + random.below(400);
  return "cluster { workers { machine: \"" + machine + "\" count: " + std::to_string(workers) +
         " } network { kind: " + one_of({"ONE_SWITCH", "RAILS"}) +
         " latency_us: " + one_of({"0", "1.5", "20"}) + " } }\nworkload { " + gradients +
         "}\nstrategy { " + strategy + " }\nrun { steps: " + std::to_string(1 + random.below(2)) +
         " network_model: " + one_of({"FIFO", "FIFO", "IDEAL"}) +
         one_of({"", "", " interference: ON"}) + " }";
}

class RoundsOf : public testing::TestWithParam<int> {};

TEST_P(RoundsOf, SkippedRingRoundsChangeNothing) {
  core::Random random(static_cast<std::uint64_t>(GetParam()) * 7919 + 3);
  int skipped = 0;
  constexpr int kCases = 3;
  for (int i = 0; i < kCases; ++i) {
    const std::string text = random_rings(random);
    const Scenario scenario = read(text);
    const std::optional<Summary> some = simulated(scenario, Folds::kAlways, SkipRepeats::kAlways);
    if (!some) continue;
    const std::optional<Summary> every = simulated(scenario, Folds::kAlways, SkipRepeats::kNever);
    EXPECT_FALSE(says_rounds(*every));
    ASSERT_EQ(summary_values(*some), summary_values(*every)) << text;
    if (says_rounds(*some)) ++skipped;
  }
  EXPECT_GE(skipped, kCases / 3) << "of " << kCases;
}

INSTANTIATE_TEST_SUITE_P(Random, RoundsOf, testing::Range(0, 6));

std::string ring_of(const std::string& machine, int workers, const std::string& more,
                    const std::string& model) {
  return "cluster { workers { machine: \"" + machine + "\" count: " + std::to_string(workers) +
         " } network { kind: ONE_SWITCH latency_us: 3 } }\nworkload { variable { name: \"g\" "
         "shape: 1048576 } }\n" +
         "strategy { algorithm: \"ring\" } " + more + " run { steps: 1 network_model: " + model +
         " }";
}

TEST(Rounds, MostOfTheTwoMillionRoundsOfAMillionGpusAreSkipped) {
  const std::optional<Summary> summary = simulated(read(ring_of("dgx-a100", 131'072, "", "FIFO")),
                                                   Folds::kAutomatic, SkipRepeats::kAutomatic);
  ASSERT_TRUE(says_rounds(*summary));
  // 2(n - 1) messages in sequence, of which an eighth crosses the network.
  EXPECT_GT(summary->step_time(), Time(2 * 131'071 * core::microseconds(3).count()));
  const std::string of = " of 16,777,208 schedule steps";
  for (const std::string& note : summary->info().notes) {
    if (note.find("rounds") == std::string::npos) continue;
    ASSERT_NE(note.find(of), std::string::npos) << note;
    EXPECT_LE(note.find(of), std::string("simulated 99,999").size()) << note;
  }
}

TEST(Rounds, AreAllSimulatedIfMessagesShareLinks) {
  const auto told_of = [](const std::string& model) {
    return simulated(read(ring_of("dgx-a100", 1024, "", model)), Folds::kAlways,
                     SkipRepeats::kAlways);
  };
  EXPECT_TRUE(says_rounds(*told_of("FIFO")));
  EXPECT_TRUE(says_rounds(*told_of("IDEAL")));
  EXPECT_FALSE(says_rounds(*told_of("FAIR")));
}

}  // namespace
}  // namespace tutti::sim
