// The closed form of a training step's time, to the picosecond: computation plus exposed
// communication.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/problems.h"

namespace tutti {
namespace {

using testing::ElementsAre;

using core::Bytes;
using core::Time;

/// The parts of a run that the tests check.
struct Kept : core::NullSink {
  void begin(const core::RunInfo& run) override { info = run; }
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void link(const core::LinkRecord& link) override { bytes += link.bytes; }
  core::RunInfo info;
  std::vector<core::StepRecord> steps;
  Bytes bytes;  ///< sum over all links
};

core::Expected<core::Scenario> read(const std::string& workload, const std::string& strategy,
                                    const std::string& run) {
  return core::read_scenario(fmt::format("cluster {{ workers {{ machine: \"host\" count: 4 }} "
                                         "network {{ kind: ONE_SWITCH latency_us: 7 }} machine {{ "
                                         "name: \"host\" device {{ name: \"cpu0\" kind: CPU "
                                         "memory_gb_per_s: 33 reduce_gb_per_s: 7 copy_gb_per_s: 11 "
                                         "}} "
                                         "nic {{ name: \"nic0\" bandwidth_gb_per_s: 3.7 }} link {{ "
                                         "from: \"cpu0\" to: \"nic0\" kind: PCIE "
                                         "bandwidth_gb_per_s: 16 latency_us: 0 }} }} }}\nworkload "
                                         "{{ variable {{ name: \"a\" shape: 1000003 "
                                         "backward_ms: "
                                         "3 }} variable {{ name: \"b\" shape: 500009 backward_ms: "
                                         "2 }} {} }}\nstrategy {{ algorithm: \"ring\" {} }}\n"
                                         "run {{ {} }}",
                                         workload, strategy, run),
                             "f", core::Library(std::vector<core::Library::File>()));
}

Kept simulated(const std::string& workload,
               const std::string& strategy = "bytes_per_pack: 0 merging: CONCAT",
               const std::string& run = "steps: 2") {
  const auto scenario = read(workload, strategy, run);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  Kept kept;
  EXPECT_TRUE(sim::Simulator().run(*scenario, {}, {}, kept));
  return kept;
}

std::vector<std::string> errors(const std::string& workload) {
  return test::kinds_of(read(workload, "", ""));
}

Time length(const core::StepRecord& step) { return step.end - step.start; }

constexpr std::int64_t kElements = 1'500'012;

// --- gradient accumulation ---

/// A step of N micro-batches has N forward and backward passes, and N - 1 additions of all
/// gradients with 3 memory passes each. Everything else is the same as with one micro-batch.
TEST(MicroBatches, AddOnlyTheirPasses) {
  const std::string times = "forward_ms: 4 update_ms: 1";
  const Time pass = core::milliseconds(4 + 3 + 2);
  const core::Bandwidth memory(33'000'000'000);
  const Time additions = core::transfer_time(3, Bytes(4 * 1'000'003), memory) +
                         core::transfer_time(3, Bytes(4 * 500'009), memory);
  const Kept one = simulated(times);
  for (const int n : {2, 3, 16}) {
    const Kept several = simulated(times + fmt::format(" micro_batches: {}", n));
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(length(several.steps[s]), length(one.steps[s]) + (n - 1) * (pass + additions)) << n;
      EXPECT_EQ(several.steps[s].exposed, one.steps[s].exposed);
      EXPECT_EQ(several.steps[s].forward, n * core::milliseconds(4));
    }
    EXPECT_EQ(several.bytes, one.bytes) << "gradients are sent once per step";
    EXPECT_LE(several.info.step_bound, length(several.steps[0]));
    EXPECT_GE(several.info.step_bound, n * pass + (n - 1) * additions);
  }
}

TEST(MicroBatches, AccumulateGradientsInTheStatedTime) {
  const std::string times = "forward_ms: 4 update_ms: 1 micro_batches: 5";
  EXPECT_EQ(length(simulated(times + " accumulate_ms: 0.5").steps[0]),
            length(simulated(times + " accumulate_ms: 0").steps[0]) + 4 * core::microseconds(500));
}

/// For any number of micro-batches, only the last backward pass hides communication of the
/// gradients.
TEST(MicroBatches, HideCommunicationInTheLastBackwardPassOnly) {
  const std::string apart = "bytes_per_pack: 1";  // each gradient in a pack of its own
  const Kept one = simulated("", apart);
  const Kept eight = simulated("micro_batches: 8", apart);
  EXPECT_EQ(one.steps[1].exposed, eight.steps[1].exposed);
  EXPECT_EQ(one.steps[1].communication, eight.steps[1].communication);
}

TEST(MicroBatches, AreSummarizedInOneSentenceOfTheCriticalPathExceptTheLast) {
  const auto scenario = read("forward_ms: 4 micro_batches: 100 accumulate_ms: 0", "", "");
  ASSERT_TRUE(scenario);
  core::Summary summary;
  ASSERT_TRUE(sim::Simulator().run(*scenario, {}, {}, summary));
  const std::vector<std::string> words = summary.path_in_words();
  ASSERT_GE(words.size(), 3u);
  EXPECT_EQ(words[0], "891 ms: forward and backward passes of 99 micro-batches on w0/cpu0");
  EXPECT_EQ(words[1], "4.00 ms: forward pass on w0/cpu0");
  EXPECT_LT(words.size(), 8u);
}

TEST(MicroBatches, StepTimeIsAboveTheBoundUnderJitter) {
  for (int seed = 0; seed < 20; ++seed) {
    const Kept kept = simulated("forward_ms: 4 micro_batches: 3", "",
                                fmt::format("steps: 4 compute_jitter_percent: 20 seed: {}", seed));
    for (const core::StepRecord& step : kept.steps)
      EXPECT_GE(length(step), kept.info.step_bound) << seed;
  }
}

TEST(MicroBatches, ErrorsAreReported) {
  EXPECT_THAT(errors("micro_batches: 0"), ElementsAre("too-small Workload.micro_batches"));
  EXPECT_THAT(errors("accumulate_ms: 1"), ElementsAre("unused Workload.accumulate_ms"));
  EXPECT_THAT(errors("backward_ms: 80000000 micro_batches: 60000"),
              ElementsAre("too-large Workload"));
  EXPECT_THAT(errors("backward_ms: 80 micro_batches: 60000"), testing::IsEmpty());
}

// --- gradients in a narrower type ---

/// All gradients are in one pack, and nothing is hidden. So a step takes the computation, the
/// copies, the conversions, and the collective of half the bytes.
TEST(Compression, OnePackHasAClosedForm) {
  const core::Bandwidth memory(33'000'000'000), copy(11'000'000'000);
  const std::string pack = "bytes_per_pack: 0 merging: CONCAT ";
  // The transfer is the same as with gradients that are computed in float16, so a run with such
  // gradients gives the time of everything but the conversions.
  const Kept half = simulated("gradient_type: FLOAT16 update_ms: 1", pack);
  const Time half_copies = 2 * core::transfer_time(Bytes(2 * kElements), copy);
  const auto convert = [&](std::int64_t elements) {
    return core::transfer_time(Bytes(6 * elements), memory);
  };

  const Kept packs = simulated("update_ms: 1", pack + "compression { type: FLOAT16 of: PACKS }");
  const Time whole_copies = 2 * core::transfer_time(Bytes(4 * kElements), copy);
  EXPECT_EQ(length(packs.steps[1]),
            length(half.steps[1]) - half_copies + whole_copies + 2 * convert(kElements));
  EXPECT_EQ(packs.bytes, half.bytes);

  const Kept gradients = simulated("update_ms: 1", pack + "compression { type: BFLOAT16 }");
  EXPECT_EQ(length(gradients.steps[1]),
            length(half.steps[1]) + convert(1'000'003) + convert(500'009) + convert(kElements));
  EXPECT_EQ(gradients.bytes, half.bytes);

  for (const Kept* kept : {&half, &packs, &gradients}) {
    for (const core::StepRecord& step : kept->steps) EXPECT_GE(length(step), kept->info.step_bound);
  }
}

TEST(Compression, ConvertsOncePerStepForAnyNumberOfMicroBatches) {
  const std::string strategy = "bytes_per_pack: 0 compression { type: FLOAT16 }";
  const Kept one = simulated("", strategy),
             three = simulated("micro_batches: 3 accumulate_ms: 0", strategy);
  EXPECT_EQ(one.steps[1].other_compute, three.steps[1].other_compute);
}

TEST(Compression, NumPacksConvertsBackBeforeOrAfterAllCopies) {
  for (const char* const of : {"PACKS", "GRADIENTS"}) {
    const Kept kept = simulated(
        "update_ms: 0", fmt::format("num_packs: 3 compression {{ type: FLOAT16 of: {} }}", of));
    const Kept plain = simulated("update_ms: 0", "num_packs: 3");
    EXPECT_LT(length(kept.steps[1]), length(plain.steps[1])) << of;
    EXPECT_LT(2 * kept.bytes, plain.bytes + Bytes(1'000)) << of;
  }
}

TEST(Compression, ErrorsAreReported) {
  const auto message = [](const std::string& strategy) {
    return test::kinds_of(read("", strategy, ""));
  };
  EXPECT_THAT(message("compression {}"), ElementsAre("missing Compression.type"));
  EXPECT_THAT(message("compression { type: INT32 }"), ElementsAre("invalid Compression.type"));
  EXPECT_THAT(message("agg_small_grads_max_bytes: 10 compression { type: FLOAT16 }"),
              ElementsAre("conflict Strategy.agg_small_grads_max_bytes"));
}

}  // namespace
}  // namespace tutti
