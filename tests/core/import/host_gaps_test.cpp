// Host gaps, late ranks and sizes from copies in traces of the PyTorch profiler.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <fmt/format.h>

#include "core/import/import.h"
#include "core/import/late_ranks.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/import/timeline_of_run.h"
#include "core/plan/compute_kind.h"
#include "core/scenario/scenario.h"
#include "core/timeline/writer.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kUs = 1000;

/// Rank 0 of two, with `steps` steps of 2000 µs. In each step, the device is idle from 0 to 50 µs
/// and from 500 to 620 µs. The forward pass ends at 400 µs, the first layer at 700 µs, and the
/// second at 1000 µs. The packs are in flight from 700 µs and from 1000 µs, for 250 µs each.
MeasuredRun sample(std::int64_t steps = 3) {
  MeasuredRun run;
  run.format = "test";
  run.world_size = 2;
  run.gpus_per_host = 2;
  run.gpu = "Tesla V100-SXM2-32GB";
  MeasuredRank& rank = run.ranks.emplace_back();
  rank.rank = 0;
  for (std::int32_t s = 0; s < steps; ++s) {
    const std::int64_t t = s * 2000 * kUs;
    const auto compute = [&](std::int64_t from, std::int64_t to, MeasuredPhase phase, int layer) {
      rank.compute.push_back({t + from * kUs, t + to * kUs, s, layer, phase});
    };
    compute(50, 400, MeasuredPhase::kForward, -1);
    compute(400, 500, MeasuredPhase::kBackward, 0);
    compute(620, 700, MeasuredPhase::kBackward, 0);
    compute(700, 1000, MeasuredPhase::kBackward, 1);
    compute(1250, 2000, MeasuredPhase::kUpdate, -1);
    MeasuredStep& step = rank.steps.emplace_back();
    step.number = s;
    step.start_ns = t;
    step.end_ns = t + 2000 * kUs;
    step.backward_ns = t + 400 * kUs;
    step.backward_end_ns = t + 1000 * kUs;
    step.layers = {"b", "a"};
    for (std::int32_t p = 0; p < 2; ++p) {
      const std::int64_t ready = t + (700 + 300 * p) * kUs;
      step.gradients.push_back(
          {p == 0 ? "b" : "a", ready, 1'000'000, {"float32", 4}, {1'000'000}, p, p});
      MeasuredCollective& c = rank.collectives.emplace_back();
      c.kind = MeasuredKind::kAllReduce;
      c.step = s;
      c.pack = p;
      c.bytes = 4'000'000;
      c.type = {"float32", 4};
      c.start_ns = ready;
      c.end_ns = ready + 250 * kUs;
      c.duration_ns = 250 * kUs;
    }
  }
  return run;
}

TEST(HostGaps, AreTimesWithoutComputationAndCollectives) {
  const StepModel model = step_model(sample());
  EXPECT_EQ(model.forward_gap_ns, 50 * kUs);
  EXPECT_EQ(model.forward_ns, 350 * kUs);
  ASSERT_EQ(model.layers.size(), 2u);
  EXPECT_EQ(model.layers[0].gap_ns, 120 * kUs);
  EXPECT_EQ(model.layers[0].backward_ns, 180 * kUs);
  EXPECT_EQ(model.layers[1].gap_ns, 0);
  EXPECT_EQ(model.layers[1].backward_ns, 300 * kUs);
  EXPECT_EQ(model.update_ns, 750 * kUs);
}

TEST(HostGaps, BecomePartsOfTheScenario) {
  const MeasuredRun run = sample();
  const auto made = scenario_of_run(run, step_model(run), "mine", {});
  ASSERT_TRUE(made) << made.error().message();
  const auto scenario = read_scenario(made->text, "mine.textproto", test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->workload.gaps.forward, microseconds(50));
  EXPECT_EQ(scenario->workload.gaps.before(0), microseconds(120));
  EXPECT_EQ(scenario->workload.gaps.before(1), std::nullopt);
  EXPECT_EQ(scenario->workload.gaps.total(), microseconds(170));
}

TEST(HostGaps, BecomeSpansOfTheTimeline) {
  class Gaps : public NullSink {
   public:
    void span(TrackId, const Span& span) override {
      if (span.kind == SpanKind::kFirstCompute + static_cast<int>(ComputeKind::kHostGap))
        found.emplace_back(span.start, span.duration);
    }
    std::vector<std::pair<Time, Time>> found;
  } sink;
  const MeasuredRun run = sample(2);
  ASSERT_TRUE(write_timeline(run, step_model(run), "t", sink));
  EXPECT_THAT(sink.found, testing::ElementsAre(std::pair(microseconds(500), microseconds(120)),
                                               std::pair(microseconds(2000), microseconds(50)),
                                               std::pair(microseconds(2500), microseconds(120))));
}

TEST(StepsOfRun, KeepTheStepsWithTheirCollectives) {
  const MeasuredRun part = steps_of_run(sample(3), 1, 3);
  ASSERT_EQ(part.ranks[0].steps.size(), 2u);
  EXPECT_EQ(part.ranks[0].steps[0].number, 1);
  EXPECT_EQ(part.ranks[0].collectives.size(), 4u);
  EXPECT_EQ(part.ranks[0].collectives[0].step, 0);
  EXPECT_EQ(part.ranks[0].collectives[0].start_ns, 2700 * kUs);
  EXPECT_EQ(part.ranks[0].compute.size(), 10u);
  EXPECT_EQ(steps_of_run(sample(3), 5, 9).ranks[0].steps.size(), 0u);
}

/// A prediction in which each pack takes `transfer`.
Summary predicted(Time transfer) {
  Summary summary;
  RunInfo info;
  info.packs.resize(2);
  summary.begin(info);
  summary.step({0, {}, milliseconds(2), "", {}, {}, {}, {}, {}});
  summary.pack({0, 0, {}, {}, {}, transfer});
  summary.pack({0, 1, {}, {}, {}, transfer});
  return summary;
}

TEST(LateRanks, ThereAreNoneIfPacksTakeThePredictedTime) {
  const MeasuredRun run = sample();
  EXPECT_TRUE(late_layers(run, step_model(run), predicted(microseconds(250))).empty());
}

/// The packs end at 950 and 1250 µs, and take 50 µs of transfer. A late rank is thus ready at 900
/// and 1200 µs instead of 700 and 1000 µs. It is late by 200 µs before the first pack, and not any
/// later before the second.
TEST(LateRanks, CountsADelayOnlyBeforeTheFirstPackThatItDelays) {
  const MeasuredRun run = sample();
  const auto late = late_layers(run, step_model(run), predicted(microseconds(50)));
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].before, "b");
  EXPECT_EQ(late[0].pack, 0);
  EXPECT_EQ(late[0].gap_ns, 200 * kUs);
  EXPECT_EQ(late[0].wait_ns, 200 * kUs);
}

TEST(LateRanks, AreNotEstimatedIfTheirTracesWereRead) {
  MeasuredRun run = sample();
  run.ranks.push_back(run.ranks.front());
  run.ranks.back().rank = 1;
  EXPECT_TRUE(late_layers(run, step_model(run), predicted(microseconds(50))).empty());
}

TEST(LateRanks, BecomeAConditionOfTheScenario) {
  const MeasuredRun run = sample();
  ScenarioFacts facts;
  facts.late = {{0, "b", 200 * kUs, 200 * kUs}};
  const auto made = scenario_of_run(run, step_model(run), "mine", facts);
  ASSERT_TRUE(made) << made.error().message();
  const auto scenario = read_scenario(made->text, "mine.textproto", test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  ASSERT_EQ(scenario->run.conditions.late.size(), 1u);
  const LateHost& late = scenario->run.conditions.late.front();
  EXPECT_EQ(late.worker, 0);
  EXPECT_EQ(late.segment, 0);
  EXPECT_EQ(late.gap, microseconds(200));
  EXPECT_EQ(scenario->cluster->part_name({0, late.part}), "w0/gpu1");
}

// --- sizes of all-reduces by the memory of copies ---

/// A trace of compiled code on one thread: for each gradient, a copy, its allocation and an
/// all-reduce without a size. `bytes` has the sizes; 0: the profiler did not record the allocation.
std::string compiled_trace(const std::vector<int>& bytes) {
  std::string events = R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", )"
                       R"("pid": 1, "tid": 1, "ts": 0, "dur": 9000})";
  const auto add = [&events](const std::string& event) { events += ",\n" + event; };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto t = static_cast<int>(100 + 300 * i);
    const auto span = [](const char* category, const char* name, int start, int duration,
                         const std::string& arguments) {
      return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 2, "ts": {}, )"
                         R"("dur": {}, "args": {{{}}}}})",
                         category, name, start, duration, arguments);
    };
    add(span("cpu_op", "aten::clone", t, 50, ""));
    if (bytes[i] > 0)
      add(fmt::format(R"({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, )"
                      R"("tid": 2, "ts": {}, "args": {{"Device Type": 1, "Bytes": {}}}}})",
                      t + 10, bytes[i]));
    add(span("cpu_op", "record_param_comms", t + 70, 60, ""));
    add(span("user_annotation", "nccl:all_reduce", t + 75, 50, ""));
    add(span("cuda_runtime", "cudaLaunchKernel", t + 80, 5,
             fmt::format("\"correlation\": {}", i + 1)));
    add(span("kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", t + 100, 20,
             fmt::format("\"correlation\": {}", i + 1)));
  }
  return fmt::format(
      R"({{"distributedInfo": {{"rank": 0, "world_size": 2}}, "traceEvents": [{}]}})", events);
}

TEST(Kineto, TakesSizesFromTheCopiesThatCompiledCodeReduces) {
  MeasuredRun run;
  const auto read = import_bytes(TraceFormat::kKineto, compiled_trace({512, 4096}), "t", run);
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(run.ranks[0].collectives.size(), 2u);
  EXPECT_EQ(run.ranks[0].collectives[0].bytes, 512);
  EXPECT_EQ(run.ranks[0].collectives[1].bytes, 4096);
  EXPECT_EQ(run.ranks[0].collectives[1].type.name, "float32");
}

TEST(Kineto, SizesOfCopiesAreNotUsedIfOneIsMissing) {
  MeasuredRun run;
  ASSERT_TRUE(import_bytes(TraceFormat::kKineto, compiled_trace({512, 0}), "t", run));
  EXPECT_EQ(run.ranks[0].collectives[0].bytes, -1);
  EXPECT_EQ(run.ranks[0].collectives[1].bytes, -1);
}

}  // namespace
}  // namespace tutti::core
