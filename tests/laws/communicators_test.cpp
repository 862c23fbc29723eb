// Communicators in addition to the gradients', such as those of tensor parallelism. The tests check
// closed forms of their exchanges, and properties that hold for all communicators.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "real/coordinator/tcp_executor.h"
#include "sim/collectives/collective_run.h"
#include "sim/folding/folding.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::Bytes;
using core::Time;

/// The parts of a run that the tests check.
struct Kept : core::NullSink {
  void begin(const core::RunInfo& run) override { info = run; }
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void pack(const core::PackRecord& pack) override { packs.push_back(pack); }
  void link(const core::LinkRecord& link) override { bytes += link.bytes; }
  void path(const core::PathPiece& piece) override { pieces.push_back(piece); }
  core::RunInfo info;
  std::vector<core::StepRecord> steps;
  std::vector<core::PackRecord> packs;
  std::vector<core::PathPiece> pieces;
  Bytes bytes;  ///< sum over all links
};

/// Returns a scenario of `workers` hosts on one switch, each with one replica.
core::Expected<core::Scenario> read(int workers, const std::string& communicators,
                                    const std::string& strategy = "", const std::string& run = "",
                                    const std::string& workload = "forward_ms: 6") {
  return core::read_scenario(fmt::format("cluster {{ workers {{ machine: \"host\" count: {} }} "
                                         "network {{ kind: ONE_SWITCH latency_us: 7 }} machine "
                                         "{{ "
                                         "name: \"host\" device {{ name: \"cpu0\" kind: CPU "
                                         "memory_gb_per_s: 33 reduce_gb_per_s: 7 }} nic {{ name: "
                                         "\"nic0\" bandwidth_gb_per_s: 3.7 }} link {{ from: "
                                         "\"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 16 "
                                         "latency_us: 0 }} }} }}\nworkload {{ variable {{ name: "
                                         "\"a\" shape: 40000 backward_ms: 3 }} variable {{ "
                                         "name: "
                                         "\"b\" shape: 200000 backward_ms: 2 }} update_ms: 1 {} "
                                         "}}\nstrategy {{ algorithm: \"ring\" {} }}\n{}\nrun {{ "
                                         "{} }}",
                                         workers, workload, strategy, communicators, run),
                             "f", core::Library(std::vector<core::Library::File>()));
}

Kept simulated(const core::Expected<core::Scenario>& scenario) {
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  Kept kept;
  if (!scenario) return kept;
  EXPECT_TRUE(sim::Simulator().run(*scenario, {}, {}, kept));
  return kept;
}

Time length(const core::StepRecord& step) { return step.end - step.start; }

/// Returns the time of a ring all-reduce of `elements` float32 over n hosts, without other traffic.
Time ring_of(std::int64_t n, std::int64_t elements) {
  const Bytes chunk(4 * ((elements + n - 1) / n));
  return 2 * (n - 1) *
             (core::microseconds(7) + core::transfer_time(chunk, core::Bandwidth(3'700'000'000))) +
         (n - 1) * core::transfer_time(chunk, core::Bandwidth(7'000'000'000));
}

std::string tensor(int size, int stride, const std::string& rest, const std::string& exchange) {
  return fmt::format("communicator {{ name: \"tensor\" size: {} stride: {} {} exchange {{ {} }} }}",
                     size, stride, rest, exchange);
}

TEST(Exchanges, BlockingExchangesLengthenTheStepByTheirNumber) {
  const Kept without = simulated(read(8, ""));
  for (const auto& [size, stride] :
       {std::pair(2, 1), std::pair(4, 1), std::pair(4, 2), std::pair(8, 1)}) {
    for (const int times : {1, 2, 7}) {
      const Kept with = simulated(
          read(8, tensor(size, stride, "", fmt::format("bytes: 400000 per_forward: {}", times))));
      EXPECT_EQ(length(with.steps[1]), length(without.steps[1]) + times * ring_of(size, 100'000))
          << times << " times in groups of " << size << " by " << stride;
      EXPECT_EQ(with.steps[1].forward, without.steps[1].forward) << "computation itself is as long";
      EXPECT_EQ(with.steps[1].exposed, without.steps[1].exposed + times * ring_of(size, 100'000));
    }
  }
}

TEST(Exchanges, HappenInEveryPassOfEveryMicroBatch) {
  const std::string times = "forward_ms: 6 micro_batches: 3 accumulate_ms: 0";
  const Kept without = simulated(read(4, "", "", "", times));
  const Kept with = simulated(
      read(4, tensor(2, 2, "", "bytes: 400000 per_forward: 2 per_backward: 1"), "", "", times));
  // The last exchange of the last backward pass shares links with the gradients. Before this
  // exchange, nothing else is sent.
  EXPECT_GE(length(with.steps[1]), length(without.steps[1]) + 8 * ring_of(2, 100'000));
  EXPECT_EQ(with.bytes - without.bytes, 3 * 3 * 3 * (4 * Bytes(400'000)) * 4)
      << "3 steps, passes, exchanges; each of 4 ranks sends what it reduces once, over 4 links";
}

TEST(Exchanges, OverlappingExchangesAreHiddenByComputation) {
  const Kept without = simulated(read(4, ""));
  // The exchanges start in the middle and at the end of the forward pass. 3 ms of computation hide
  // the first exchange, and nothing hides the second exchange.
  const Kept with =
      simulated(read(4, tensor(4, 1, "", "bytes: 400000 per_forward: 2 overlaps: true")));
  ASSERT_LT(ring_of(4, 100'000), core::milliseconds(3));
  EXPECT_EQ(length(with.steps[1]), length(without.steps[1]) + ring_of(4, 100'000));
}

TEST(Exchanges, ExchangesOfOneCommunicatorAreSerializedAndThoseOfTwoAreNot) {
  // There are two groups of two hosts, which share no port. So only exchanges of the same hosts can
  // overlap.
  const std::string one =
      "communicator { name: \"x\" size: 2 exchange { bytes: 400000 per_forward: 1 overlaps: true } "
      "exchange { bytes: 400000 per_forward: 1 overlaps: true } }";
  const Kept without = simulated(read(4, ""));
  EXPECT_EQ(length(simulated(read(4, one)).steps[1]),
            length(without.steps[1]) + 2 * ring_of(2, 100'000));
  const std::string two =
      "communicator { name: \"x\" size: 2 exchange { bytes: 400000 per_forward: 1 overlaps: true } "
      "} "
      "communicator { name: \"y\" size: 2 exchange { bytes: 400000 per_forward: 1 overlaps: true } "
      "}";
  const Time both = length(simulated(read(4, two)).steps[1]) - length(without.steps[1]);
  EXPECT_GT(both, ring_of(2, 100'000)) << "they share ports";
  EXPECT_LT(both, 2 * ring_of(2, 100'000)) << "and fill each other's gaps";
}

/// Both groups of four GPUs of a machine communicate at the same time. On the machine's NVSwitch,
/// the two groups share no link.
TEST(Exchanges, ExchangesOfGpusTakeTheTimeOfTheirCollective) {
  const core::Library& library = test::shipped_library();
  for (const char* const collective :
       {"ALL_REDUCE", "ALL_TO_ALL", "REDUCE_SCATTER", "ALL_GATHER"}) {
    for (const int stride : {1, 2}) {
      const auto scenario = [&](const std::string& exchange) {
        return core::read_scenario(
            fmt::format(
                "cluster {{ workers {{ machine: \"dgx-a100\" }} }}\nworkload {{ variable {{ name: "
                "\"a\" shape: 1000 "
                "}} forward_ms: 5 update_ms: 1 }}\nstrategy {{ algorithm: \"nccl\" "
                "}}\ncommunicator {{ name: \"e\" "
                "size: 4 "
                "stride: {} {} exchange {{ bytes: 4 per_forward: 1 }} }}\nrun {{ nccl: RINGS }}",
                stride, exchange),
            "f", library);
      };
      const auto with = scenario(
          fmt::format("exchange {{ collective: {} bytes: 8000000 per_forward: 3 }}", collective));
      ASSERT_TRUE(with) << with.error().message();
      const Kept none = simulated(scenario(""));
      const Time alone =
          core::kGpuLaunch +
          sim::run_alone(with->plan.collective(with->plan.exchanges[0]), core::NetworkModel::kFifo)
              .end;
      // Not all ranks finish at the same time, and each continues when it has finished. The total
      // time therefore deviates a little.
      const Time took = length(simulated(with).steps[1]) - length(none.steps[1]);
      EXPECT_NEAR(static_cast<double>(took.count()), static_cast<double>(3 * alone.count()),
                  0.04 * static_cast<double>(3 * alone.count()))
          << collective << " by " << stride;
    }
  }
}

TEST(Exchanges, SlowDownGradientsOnTheSameLinks) {
  const Kept alone = simulated(read(4, "", "", "", "forward_ms: 6"));
  // At the end of the backward pass, the last pack and the exchange start together.
  const Kept both = simulated(read(4, tensor(4, 1, "", "bytes: 4000000 per_backward: 1")));
  const auto took = [](const Kept& kept) {
    return kept.packs.back().end - kept.packs.back().last_start;
  };
  EXPECT_GT(took(both), took(alone));
  EXPECT_GT(length(both.steps[1]), length(alone.steps[1]));
}

TEST(SplitModel, GradientsAreReducedAmongReplicasOfTheSameModelPart) {
  const std::string one_pack = "bytes_per_pack: 0 merging: CONCAT";
  for (const auto& [size, stride] :
       {std::pair(2, 1), std::pair(4, 1), std::pair(2, 4), std::pair(8, 1)}) {
    const auto scenario = read(
        8,
        fmt::format("communicator {{ name: \"parts\" size: {} stride: {} splits_model: true }}",
                    size, stride),
        one_pack);
    const Kept kept = simulated(scenario);
    ASSERT_EQ(kept.packs.size(), 3u) << "one pack in three steps, recorded once for all groups";
    for (const core::PackRecord& pack : kept.packs)
      EXPECT_EQ(pack.end - pack.last_start, ring_of(8 / size, 240'000)) << size << " by " << stride;
    EXPECT_TRUE(kept.info.bound_reason.empty()) << "the bounds are of an all-reduce over all";
  }
}

/// With random groups and noise, every run must complete, the critical path must explain the step
/// time, and a repeated run must be identical.
TEST(Communicators, RunsWithRandomCommunicatorsEndAndAreExplained) {
  core::Random random(5);
  const char* const collectives[] = {"ALL_REDUCE", "REDUCE_SCATTER", "ALL_GATHER",
                                     "BROADCAST",  "REDUCE",         "SEND_RECEIVE"};
  const char* const models[] = {"FIFO", "FAIR", "IDEAL"};
  for (int i = 0; i < 60; ++i) {
    std::string text;
    bool split = false;
    for (std::uint64_t c = 0; c <= random.below(3); ++c) {
      const std::uint64_t size = 2u << random.below(3), stride = 1u << random.below(4);
      if (16 % (size * stride) != 0) continue;
      const bool splits = !split && random.below(2) == 0;
      split = split || splits;
      text += fmt::format("communicator {{ name: \"c{}\" size: {} stride: {} splits_model: {}", c,
                          size, stride, splits);
      for (std::uint64_t e = 0; e <= random.below(2); ++e) {
        text += fmt::format(
            " exchange {{ collective: {} bytes: {} per_forward: {} per_backward: {} overlaps: {} "
            "}}",
            collectives[random.below(6)], 64 * (1 + random.below(2000)), random.below(4),
            1 + random.below(5), random.below(2) == 0);
      }
      text += " }";
    }
    const auto scenario =
        read(16, text, random.below(2) == 0 ? "launch: SERIAL" : "launch_us: 3",
             fmt::format("steps: 3 compute_jitter_percent: 20 seed: {} network_model: {}", i,
                         models[random.below(3)]),
             "forward_ms: 0.6 micro_batches: 2");
    const Kept kept = simulated(scenario), again = simulated(scenario);
    ASSERT_EQ(kept.steps.size(), 3u) << text;
    EXPECT_EQ(kept.packs.size(), 3 * scenario->plan.packs.size()) << text;
    EXPECT_EQ(kept.steps.back().end, again.steps.back().end);
    ASSERT_FALSE(kept.pieces.empty());
    for (std::size_t p = 1; p < kept.pieces.size(); ++p)
      EXPECT_EQ(kept.pieces[p].start, kept.pieces[p - 1].end) << text;
    EXPECT_EQ(kept.pieces.back().end, kept.steps.back().end);
    for (const core::PathPiece& piece : kept.pieces) {
      if (piece.kind != core::SpanKind::kExchange) continue;
      EXPECT_EQ(piece.parts.total(), piece.end - piece.start) << text;
    }
  }
}

TEST(Communicators, TheCriticalPathIsDescribedInWords) {
  const auto scenario = read(4, tensor(2, 1, "", "bytes: 4000 per_forward: 50 per_backward: 50"));
  core::Summary summary;
  ASSERT_TRUE(scenario);
  ASSERT_TRUE(sim::Simulator().run(*scenario, {}, {}, summary));
  const std::vector<std::string> words = summary.path_in_words();
  EXPECT_LT(words.size(), 6u);
  EXPECT_THAT(words[0], testing::HasSubstr("for 50 exchanges (tensor)"));
}

TEST(Communicators, ErrorsAreReported) {
  const auto kinds = [](const std::string& communicators) {
    return test::kinds_of(read(8, communicators, ""));
  };
  using testing::ElementsAre;
  EXPECT_THAT(kinds("communicator { size: 2 splits_model: true }"),
              ElementsAre("missing Communicator.name"));
  EXPECT_THAT(kinds("communicator { name: \"t\" splits_model: true }"),
              ElementsAre("missing Communicator.size"));
  EXPECT_THAT(kinds("communicator { name: \"t\" size: 3 splits_model: true }"),
              ElementsAre("conflict Communicator.size"));
  EXPECT_THAT(kinds("communicator { name: \"t\" size: 4 stride: 4 splits_model: true }"),
              ElementsAre("conflict Communicator.size"));
  EXPECT_THAT(kinds("communicator { name: \"t\" size: 4 stride: 2 splits_model: true }"),
              testing::IsEmpty());
  EXPECT_THAT(kinds("communicator { name: \"t\" size: 2 }"), ElementsAre("unused Communicator"));
  EXPECT_THAT(kinds(tensor(2, 1, "", "bytes: 4")), ElementsAre("unused Exchange"));
  EXPECT_THAT(kinds(tensor(2, 1, "", "per_forward: 4")), ElementsAre("missing Exchange.bytes"));
  EXPECT_THAT(kinds(tensor(2, 1, "", "bytes: 6 per_forward: 4")),
              ElementsAre("invalid Exchange.bytes"));
  EXPECT_THAT(kinds(tensor(4, 1, "", "collective: ALL_TO_ALL bytes: 16 per_forward: 4")),
              ElementsAre("conflict Communicator"));
  EXPECT_THAT(kinds(tensor(4, 1, "", "collective: ALL_GATHER bytes: 4 per_forward: 4")),
              ElementsAre("conflict Communicator"));
  EXPECT_THAT(kinds(tensor(4, 1, "", "collective: ALL_GATHER bytes: 16 per_forward: 4")),
              testing::IsEmpty());
  EXPECT_THAT(kinds(tensor(4, 1, "algorithm: \"pscpu\"", "bytes: 4 per_forward: 4")),
              ElementsAre("unknown-name Communicator.algorithm"));
  EXPECT_THAT(kinds(tensor(4, 1, "channels: 2", "bytes: 4 per_forward: 4")),
              ElementsAre("unused Communicator.channels"));
  const std::string one =
      "communicator { name: \"t\" size: 2 algorithm: \"ring\" splits_model: true } ";
  EXPECT_THAT(kinds(one + one),
              ElementsAre("duplicate Communicator.name", "conflict Communicator.splits_model"));
}

TEST(Communicators, AreSimulatedWithAllWorkers) {
  const auto scenario = read(4, tensor(2, 1, "", "bytes: 4000 per_forward: 1"));
  ASSERT_TRUE(scenario);
  EXPECT_FALSE(sim::fold(*scenario).why_not.empty());
}

TEST(Communicators, AreRefusedByRealRuns) {
  Kept kept;
  const auto scenario = read(2, tensor(2, 1, "", "bytes: 4000 per_forward: 1"));
  ASSERT_TRUE(scenario);
  const real::TcpExecutorOptions options;
  const auto done = real::TcpExecutor(options).run(*scenario, {}, {}, kept);
  EXPECT_THAT(test::kinds_of(done), testing::ElementsAre("unsupported Communicator"));
}

}  // namespace
}  // namespace tutti
