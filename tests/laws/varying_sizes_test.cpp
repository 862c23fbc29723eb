// All-to-alls of experts, whose blocks are not full and have different sizes in each step.

#include "core/strategy/varying_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "core/algorithm/direct.h"
#include "core/scenario/scenario.h"
#include "core/schedule/checker.h"
#include "core/timeline/timeline.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::Rank;
using core::Time;

constexpr std::int64_t kCapacity = 1000;

TEST(VaryingSizes, AreBetweenMinimumAndCapacityAndDependOnlyOnTheExpert) {
  const core::VaryingSizes half{500'000};
  const auto out = half.of(kCapacity, 0, {7, 3, 4});
  std::set<std::int64_t> seen;
  for (Rank to = 0; to < 64; ++to) {
    const std::int64_t size = out->of(0, to);
    EXPECT_GE(size, kCapacity / 2);
    EXPECT_LE(size, kCapacity);
    for (Rank from = 1; from < 64; ++from)
      EXPECT_EQ(out->of(from, to), size) << "all ranks send equally much to an expert";
    seen.insert(size);
  }
  EXPECT_GT(seen.size(), 30u);
}

TEST(VaryingSizes, TheSecondExchangeReturnsTheBytesOfTheFirst) {
  const core::VaryingSizes sizes{100'000};
  const auto out = sizes.of(kCapacity, 2, {7, 3, 4}), back = sizes.of(kCapacity, 2, {7, 3, 5});
  for (Rank a = 0; a < 8; ++a) {
    for (Rank b = 0; b < 8; ++b) EXPECT_EQ(out->of(a, b), back->of(b, a));
  }
}

TEST(VaryingSizes, DependOnlyOnSeedStepPairAndGroup) {
  const core::VaryingSizes sizes{0};
  const auto all = [&](std::int64_t group, const core::Occurrence& occurrence) {
    std::vector<std::int64_t> list;
    for (Rank to = 0; to < 16; ++to)
      list.push_back(sizes.of(kCapacity, group, occurrence)->of(0, to));
    return list;
  };
  const std::set<std::vector<std::int64_t>> different{all(0, {7, 3, 4}), all(0, {8, 3, 4}),
                                                      all(0, {7, 2, 4}), all(0, {7, 3, 2}),
                                                      all(1, {7, 3, 4})};
  EXPECT_EQ(different.size(), 5u);
  EXPECT_EQ(all(1, {7, 3, 4}), all(1, {7, 3, 4}));
}

TEST(VaryingSizes, SchedulesAreProved) {
  for (const std::int32_t ranks : {1, 2, 3, 5, 8}) {
    for (const std::int64_t least : {0, 400'000, 999'999}) {
      core::Contract contract = core::Contract::of(core::CollectiveKind::kAllToAll, ranks,
                                                   ranks * std::int64_t{6}, 0, true);
      contract.filled = core::VaryingSizes{least}.of(6, 0, {1, 2, 3});
      const auto schedule = core::direct(contract, core::Engine::kCpu);
      EXPECT_THAT(core::check(*schedule, contract), testing::IsEmpty())
          << ranks << " ranks, " << least;
    }
  }
}

/// The parts of a run that the tests check.
struct KeptLengths : core::NullSink {
  void step(const core::StepRecord& step) override { lengths.push_back(step.end - step.start); }
  void link(const core::LinkRecord& link) override { bytes += link.bytes; }
  std::vector<Time> lengths;
  core::Bytes bytes;
};

/// Returns a scenario with two groups of eight experts on the GPUs of two machines.
core::Expected<core::Scenario> experts(const std::string& exchange, const std::string& run) {
  const core::Library& library = test::shipped_library();
  return core::read_scenario(
      fmt::format(
          "cluster {{ workers {{ machine: \"dgx-a100\" count: 2 }} network {{ kind: RAILS "
          "latency_us: 3 }} }}\n"
          "workload {{ variable {{ name: \"a\" shape: 1000 }} forward_ms: 5 update_ms: 1 }}\n"
          "strategy {{ algorithm: \"nccl\" }}\n"
          "communicator {{ name: \"experts\" size: 8 exchange {{ bytes: 80000000 per_forward: 4 "
          "per_backward: 4 {} }} }}\nrun {{ steps: 4 {} }}",
          exchange, run),
      "f", library);
}

KeptLengths lengths_of(const std::string& exchange, const std::string& run, bool remember = true) {
  KeptLengths kept;
  const auto scenario = experts(exchange, run);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  sim::Simulator simulator(sim::Folds::kAutomatic,
                           remember ? sim::SkipRepeats::kAlways : sim::SkipRepeats::kNever);
  if (scenario) {
    EXPECT_TRUE(simulator.run(*scenario, {}, {}, kept));
  }
  return kept;
}

TEST(VaryingSizes, StepsDifferAndAreNoLongerThanWithFullBlocks) {
  for (const char* const run : {"nccl: RINGS", "", "nccl: RINGS network_model: FAIR"}) {
    const KeptLengths full = lengths_of("collective: ALL_TO_ALL", run);
    const KeptLengths uneven = lengths_of("collective: ALL_TO_ALL least_filled: 0.25", run);
    const KeptLengths almost = lengths_of("collective: ALL_TO_ALL least_filled: 1", run);
    EXPECT_EQ(almost.lengths, full.lengths) << run;
    EXPECT_GT(std::set<Time>(uneven.lengths.begin(), uneven.lengths.end()).size(), 1u) << run;
    for (std::size_t s = 0; s < full.lengths.size(); ++s) {
      EXPECT_LT(uneven.lengths[s], full.lengths[s]) << run;
      EXPECT_GT(4 * uneven.lengths[s], full.lengths[s]) << run;
    }
    EXPECT_LT(uneven.bytes, full.bytes) << run;
    EXPECT_EQ(lengths_of("collective: ALL_TO_ALL least_filled: 0.25", run, false).lengths,
              uneven.lengths)
        << run;
    EXPECT_NE(
        lengths_of("collective: ALL_TO_ALL least_filled: 0.25", fmt::format("{} seed: 5", run))
            .lengths,
        uneven.lengths)
        << run;
  }
}

TEST(VaryingSizes, AreOnlyForAllToAll) {
  const auto wrong = experts("collective: ALL_GATHER least_filled: 0.5", "");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(test::kinds_of(wrong), testing::ElementsAre("unused Exchange.least_filled"));
  EXPECT_FALSE(experts("collective: ALL_TO_ALL least_filled: 1.5", ""));
}

}  // namespace
}  // namespace tutti
