// Imports small traces that were written for these tests in the shape of each format. The content
// of these traces is known, so all of it is checked. The profiler's traces have two steps of three
// layers, with four gradients in two packs (tests/data/traces).

#include "core/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "core/import/measurements_of_run.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/import/timeline_of_run.h"
#include "core/measured/nccl_tests.h"
#include "core/scenario/scenario.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/samples.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::sample;
using test::sample_path;
using testing::ElementsAre;

MeasuredRun imported(const std::vector<std::string>& files) {
  MeasuredRun run;
  for (const std::string& file : files) {
    const auto format = recognise(sample(file).substr(0, kBytesToRecognise));
    EXPECT_TRUE(format) << file;
    const auto read = import_file(*format, sample_path(file), run);
    EXPECT_TRUE(read) << file << (read ? "" : read.error().message());
  }
  finish_import(run);
  return run;
}

TEST(Recognise, RecognisesEverySampleByItsContent) {
  const std::vector<std::pair<std::string, TraceFormat>> samples{
      {"kineto_rank0.json", TraceFormat::kKineto},
      {"kineto_old.json", TraceFormat::kKineto},
      {"kineto_rocm.json", TraceFormat::kKineto},
      {"inspector_v4_0.log", TraceFormat::kInspector},
      {"inspector_node0-pid5000.log", TraceFormat::kInspector},
      {"nccl_2_24.log", TraceFormat::kNcclLog},
      {"nccl_2_21.log", TraceFormat::kNcclLog},
      {"nccl_trace_rank_0", TraceFormat::kFlightRecorder},
      {"nccl_trace_rank_1", TraceFormat::kFlightRecorder},
      {"nccl_trace_rank_1.json", TraceFormat::kFlightRecorder},
      {"horovod.json", TraceFormat::kHorovod},
      {"horovod_killed.json", TraceFormat::kHorovod},
      {"nsys_2gpu.sqlite", TraceFormat::kNsys},
      {"nccl_profiler_0.json", TraceFormat::kNcclProfiler},
      {"nccl_profiler_1.json", TraceFormat::kNcclProfiler},
      {"nccl_ras.json", TraceFormat::kNcclRas},
      {"nccl_ras.txt", TraceFormat::kNcclRas},
      {"small.xplane.pb", TraceFormat::kXspace},
      {"mlperf.log", TraceFormat::kMlperf}};
  for (const auto& [file, format] : samples) EXPECT_EQ(recognise(sample(file)), format) << file;
  for (const char* other : {"", "{}", "hello", "name,shape\n", "\x80\x02", "[1]"})
    EXPECT_EQ(recognise(other), std::nullopt);
}

TEST(Kineto, ReadsStepsLayersAndPacks) {
  const MeasuredRun run = imported({"kineto_rank0.json"});
  EXPECT_EQ(run.world_size, 2);
  EXPECT_EQ(run.gpus_per_host, 2);
  EXPECT_EQ(run.nccl_version, "2.21.5");
  EXPECT_TRUE(run.is_ddp);
  const StepModel model = step_model(run);
  EXPECT_EQ(model.steps, 2);
  // The kernels of the layers end at 520, 800 and 1000 µs. The backward pass starts at 420 µs.
  EXPECT_EQ(model.layers.size(), 3u);
  EXPECT_EQ(model.layers[0].backward_ns, 100'000);
  // The device idles for 10 µs, until the first pack starts.
  EXPECT_EQ(model.layers[1].backward_ns, 270'000);
  EXPECT_EQ(model.layers[1].gap_ns, 10'000);
  EXPECT_EQ(model.layers[2].backward_ns, 200'000);
  ASSERT_EQ(model.gradients.size(), 4u);
  EXPECT_EQ(model.gradients[1].elements, 512'000);
  EXPECT_EQ(model.gradients[1].type.name, "float32");
  ASSERT_EQ(model.packs.size(), 2u);
  EXPECT_THAT(model.packs[0].gradients, ElementsAre(0, 1));
  EXPECT_THAT(model.packs[1].gradients, ElementsAre(2, 3));
  EXPECT_EQ(model.packs[0].bytes, 513'000 * 4);
  EXPECT_EQ(model.packs[0].algorithm, "ring");
  EXPECT_EQ(model.packs[0].protocol, "ll");
  EXPECT_EQ(model.packs[0].channels, 4);
  EXPECT_EQ(model.packs[0].duration_ns, 300'000);
  EXPECT_EQ(RecordCounts::sum(run.counts.unknown()), 0);
  EXPECT_EQ(RecordCounts::sum(run.counts.incomplete()), 0);
}

TEST(Kineto, ReadsOldTracesWithoutSizesAndRcclTracesWithoutAlgorithm) {
  const MeasuredRun old = imported({"kineto_old.json"});
  const StepModel of_old = step_model(old);
  ASSERT_EQ(of_old.packs.size(), 2u);
  EXPECT_EQ(of_old.packs[0].bytes, -1);
  EXPECT_EQ(of_old.gradients[0].elements, -1);
  EXPECT_EQ(of_old.packs[0].algorithm, "ring");
  EXPECT_EQ(of_old.layers[1].backward_ns, 270'000);

  const MeasuredRun rocm = imported({"kineto_rocm.json"});
  EXPECT_TRUE(rocm.is_rocm);
  EXPECT_EQ(step_model(rocm).packs[0].algorithm, "");
  EXPECT_EQ(step_model(rocm).packs[0].bytes, 513'000 * 4);
}

TEST(Kineto, MergesRanksOnOneClock) {
  // The clock of the second rank is 3 ms ahead, and its packs start 40 µs later.
  const MeasuredRun run = imported({"kineto_rank1.json", "kineto_rank0.json"});
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.ranks[0].rank, 0);
  std::ostringstream out;
  TimelineWriter writer(out);
  ASSERT_TRUE(write_timeline(run, step_model(run), "t", writer));
  const auto timeline = TimelineReader::from_bytes(out.str(), "t");
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->complete());
  ASSERT_EQ(timeline->steps().size(), 2u);
  ASSERT_EQ(timeline->packs().size(), 4u);
  const PackRecord& pack = timeline->packs().front();
  EXPECT_EQ(pack.ready, microseconds(520));
  EXPECT_EQ(pack.first_start, microseconds(530));
  EXPECT_EQ(pack.last_start, microseconds(570));
  EXPECT_EQ(pack.end, microseconds(830));
  // The second rank computes longest. It computes nothing from 570 to 620 µs and from 1050 to 1260
  // µs.
  EXPECT_EQ(timeline->steps()[1].communication, microseconds(470));
  EXPECT_EQ(timeline->steps()[1].exposed, microseconds(50 + 210));
}

TEST(Kineto, RefusesTwoTracesOfOneRank) {
  MeasuredRun run;
  ASSERT_TRUE(import_file(TraceFormat::kKineto, sample_path("kineto_rank0.json"), run));
  EXPECT_THAT(
      test::kinds_of(import_file(TraceFormat::kKineto, sample_path("kineto_rank0.json"), run)),
      ElementsAre("duplicate distributedInfo.rank"));
}

TEST(ScenarioOfRun, SimulationReproducesTheMeasuredStep) {
  const MeasuredRun run = imported({"kineto_rank0.json"});
  StepModel model = step_model(run);
  ASSERT_TRUE(fit_gradients(model, {}));
  const auto made = scenario_of_run(run, model, "mine", {});
  ASSERT_TRUE(made);
  const auto scenario = read_scenario(made->text, "mine.textproto", test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->cluster->replicas(), 2);
  ASSERT_EQ(scenario->plan.packs.size(), 2u);
  EXPECT_EQ(scenario->workload.gradients.size(), 4u);
  EXPECT_EQ(scenario->workload.bytes(), Bytes((513'000 + 300'256) * 4));
  EXPECT_EQ(scenario->workload.times[0].backward_total(), microseconds(570));
  EXPECT_EQ(scenario->workload.gaps.before(2), microseconds(10));
}

TEST(ScenarioOfRun, AsksForOptionsThatTheTraceDoesNotContain) {
  MeasuredRun run = imported({"kineto_rocm.json"});
  run.world_size = 4;
  StepModel model = step_model(run);
  EXPECT_THAT(test::kinds_of(scenario_of_run(run, model, "x", {})),
              ElementsAre("missing --machine", "missing --link"));
  run = imported({"kineto_old.json"});
  model = step_model(run);
  EXPECT_THAT(test::kinds_of(fit_gradients(model, {})), ElementsAre("missing --model"));
}

TEST(ScenarioOfRun, TakesSizesOfAModelThatFits) {
  MeasuredRun run = imported({"kineto_old.json"});
  for (MeasuredRank& rank : run.ranks)
    for (MeasuredCollective& c : rank.collectives)
      c.type = {"float32", 4}, c.bytes = c.pack == 0 ? 2'052'000 : 1'201'024;
  const CandidateModel fits{"fits",
                            {{"d", {300, 1000}, 300'000, "float32"},
                             {"c", {256}, 256, "float32"},
                             {"b", {1000, 512}, 512'000, "float32"},
                             {"a", {1000}, 1000, "float32"}}};
  CandidateModel other = fits;
  other.gradients[0].elements = 1;
  StepModel model = step_model(run);
  ASSERT_TRUE(fit_gradients(model, {"", {}, "", {other, fits}, false}));
  EXPECT_EQ(model.gradients[0].name, "a");
  EXPECT_EQ(model.gradients[3].elements, 300'000);
  // A requested model must fit. Without a request, each pack becomes one variable.
  model = step_model(run);
  EXPECT_THAT(test::kinds_of(fit_gradients(model, {"", {}, "", {other}, true})),
              ElementsAre("conflict --model"));
  ASSERT_TRUE(fit_gradients(model, {"", {}, "", {other}, false}));
  ASSERT_EQ(model.gradients.size(), 2u);
  EXPECT_EQ(model.gradients[1].elements, 300'256);
  EXPECT_EQ(model.layers[0].backward_ns + model.layers[1].backward_ns, 570'000);
  EXPECT_EQ(model.layers[0].gap_ns + model.layers[1].gap_ns, 10'000);
}

TEST(BucketLimits, ExplainTheSizesOfTheBuckets) {
  constexpr std::int64_t kMiB = 1 << 20;
  const auto usual = bucket_limits({500'000, 2'000'000, 20 * kMiB, 10 * kMiB, 100}, {2, 2, 1});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->first_bytes, kMiB);
  EXPECT_EQ(usual->bytes, 25 * kMiB);
  const auto small = bucket_limits({100, 100, 100, 100}, {1, 1, 1, 1});
  ASSERT_TRUE(small);
  EXPECT_EQ(small->first_bytes, 100);
  EXPECT_EQ(small->bytes, 100);
  // No limit explains this: a bucket of 10 is closed, but a later one grows beyond 20.
  EXPECT_EQ(bucket_limits({5, 10, 20, 5, 1}, {1, 1, 3}), std::nullopt);
}

TEST(Inspector, TheShortestTimeOverRanksIsTheTransferTime) {
  const MeasuredRun run = imported({"inspector_node0-pid5000.log", "inspector_node0-pid5001.log"});
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.ranks[0].collectives.size(), 6u);
  // Lines of the launcher are counted as unknown, and the dump's own statistics as ignored.
  EXPECT_EQ(RecordCounts::sum(run.counts.unknown()), 2);
  EXPECT_EQ(RecordCounts::sum(run.counts.ignored()), 2);
  EXPECT_EQ(run.ranks[1].device, 1);
  EXPECT_EQ(run.ranks[0].collectives[0].algorithm, "ring");
  EXPECT_EQ(run.ranks[0].collectives[0].channels, 2);
  const auto log = measurements_of_run(run);
  ASSERT_TRUE(log);
  const auto tables = parse_nccl_tests(*log, "log");
  ASSERT_TRUE(tables) << tables.error().message();
  ASSERT_EQ(tables->size(), 2u);
  EXPECT_EQ((*tables)[0].collective, "all_reduce");
  EXPECT_EQ((*tables)[0].ranks, 2);
  // Rank 0 always waits 30 µs longer. The medians are those of 400, 410, 420 and of 150, 155, 160
  // µs.
  EXPECT_EQ((*tables)[0].rows[0].out_of_place->us, 410);
  EXPECT_EQ((*tables)[1].rows[0].bytes, 2'097'152);
  EXPECT_EQ((*tables)[1].rows[0].out_of_place->us, 155);
  EXPECT_TRUE(check_collective((*tables)[0], 2));
  EXPECT_TRUE(check_collective((*tables)[1], 2));
}

TEST(Inspector, WithoutVerboseThereIsNoTimeline) {
  const MeasuredRun run = imported({"inspector_v4_0.log"});
  EXPECT_EQ(run.ranks[0].collectives.size(), 5u);
  EXPECT_EQ(run.ranks[0].collectives[0].bytes, 2 * 2'097'152);
  std::ostringstream out;
  TimelineWriter writer(out);
  EXPECT_THAT(test::kinds_of(write_timeline(run, step_model(run), "t", writer)),
              ElementsAre("missing"));
}

TEST(NcclLog, AssignsChoicesToTheirCalls) {
  const MeasuredRun run = imported({"nccl_2_24.log"});
  EXPECT_EQ(run.nccl_version, "2.24.3");
  EXPECT_EQ(run.ranks.size(), 2u);
  ASSERT_EQ(run.choices.size(), 2u);
  EXPECT_EQ(run.choices[0].algorithm, "ring");
  EXPECT_EQ(run.choices[0].protocol, "ll128");
  EXPECT_EQ(run.choices[0].channels, 24);
  EXPECT_EQ(run.choices[0].times, 6);
  // An all-gather of 262144 bfloat16 elements from each of two ranks.
  EXPECT_EQ(run.choices[1].bytes, 2 * 2 * 262'144);
  EXPECT_EQ(run.transports.at("NET/IB with GPUDirect RDMA"), 2);
  EXPECT_THAT(run.variables, ElementsAre("NCCL_IB_HCA=mlx5"));
  EXPECT_EQ(run.networks.size(), 1u);
  const MeasuredRun old = imported({"nccl_2_21.log"});
  ASSERT_EQ(old.choices.size(), 1u);
  EXPECT_EQ(old.choices[0].algorithm, "ring");
  EXPECT_EQ(old.choices[0].protocol, "ll128");
  EXPECT_NEAR(old.choices[0].predicted_us, 123.4, 0.001);
}

TEST(FlightRecorder, PickleAndJsonGiveTheSameResult) {
  const MeasuredRun pickled = imported({"nccl_trace_rank_0", "nccl_trace_rank_1"});
  const MeasuredRun json = imported({"nccl_trace_rank_0", "nccl_trace_rank_1.json"});
  for (const MeasuredRun* run : {&pickled, &json}) {
    ASSERT_EQ(run->ranks.size(), 2u);
    EXPECT_EQ(run->ranks[0].collectives.size(), 4u);
    EXPECT_EQ(run->ranks[1].collectives.size(), 3u);
    EXPECT_EQ(run->ranks[1].collectives[0].bytes, 4 * 512'000);
    EXPECT_EQ(run->ranks[1].collectives[0].duration_ns, 250'000);
    ASSERT_EQ(run->groups.size(), 1u);
    EXPECT_THAT(run->groups[0].ranks, ElementsAre(0, 1));
    // Rank 1 has not reached the last collective.
    EXPECT_EQ(run->notes.size(), 5u);
  }
}

TEST(Horovod, TensorsOfOneCollectiveAreOnePack) {
  const MeasuredRun run = imported({"horovod.json"});
  EXPECT_EQ(run.world_size, 2);
  EXPECT_EQ(run.cycle_us, 1000);
  const StepModel model = step_model(run);
  EXPECT_EQ(model.steps, 2);
  ASSERT_EQ(model.packs.size(), 2u);
  EXPECT_THAT(model.packs[0].gradients, ElementsAre(0, 1));
  EXPECT_EQ(model.packs[0].bytes, 4 * 300'256);
  EXPECT_EQ(model.packs[1].duration_ns, 1'000'000);
  EXPECT_EQ(model.gradients[0].name, "DistributedOptimizer/grad_c");
  EXPECT_EQ(model.layers[1].backward_ns, 100'000);
}

TEST(Nsys, ProcessesAreRanksAndPayloadsHaveTheSizes) {
  const MeasuredRun run = imported({"nsys_2gpu.sqlite"});
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.world_size, 2);
  EXPECT_EQ(run.gpu, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(run.groups.size(), 1u);
  EXPECT_EQ(run.groups[0].size, 2);
  for (const MeasuredRank& rank : run.ranks) {
    ASSERT_EQ(rank.collectives.size(), 2u);
    EXPECT_EQ(rank.collectives[0].kind, MeasuredKind::kAllReduce);
    EXPECT_EQ(rank.collectives[0].bytes, 8'000'000);
    EXPECT_EQ(rank.collectives[0].channels, 16);
    ASSERT_EQ(rank.steps.size(), 2u);
    EXPECT_EQ(rank.steps[1].end_ns - rank.steps[1].start_ns, 1'000'000);
  }
  const auto log = measurements_of_run(run);
  ASSERT_TRUE(log);
  EXPECT_EQ(parse_nccl_tests(*log, "log").value()[0].rows[0].out_of_place->us, 395);
}

// --- invalid input ---

/// Imports any bytes. The result must be a run from which everything can be derived, or an error
/// with a place.
void import_anything(TraceFormat format, const std::string& bytes) {
  MeasuredRun run;
  const auto read = import_bytes(format, bytes, "f", run);
  if (!read) {
    ASSERT_FALSE(read.error().problems().empty());
    EXPECT_EQ(read.error().problems().front().where.file, "f");
    EXPECT_FALSE(read.error().problems().front().text.empty());
    return;
  }
  finish_import(run);
  StepModel model = step_model(run);
  static_cast<void>(fit_gradients(model, {}));
  static_cast<void>(scenario_of_run(run, model, "s", {"dgx-a100", 1, "", {}, false}));
  static_cast<void>(measurements_of_run(run));
  std::ostringstream out;
  TimelineWriter writer(out);
  if (write_timeline(run, model, "t", writer)) {
    const auto timeline = TimelineReader::from_bytes(out.str(), "t");
    ASSERT_TRUE(timeline);
    EXPECT_TRUE(timeline->complete()) << timeline->damage();
  }
}

TEST(EverySample, TruncatedAtAnyByteIsReadOrRefused) {
  for (const auto& entry : std::filesystem::directory_iterator(sample_path(""))) {
    const std::string file = entry.path().filename().string();
    const std::string whole = sample(file);
    const auto format = recognise(whole);
    if (!format) continue;
    // A database is cut at fewer places, because SQLite itself checks its bytes.
    const std::size_t step = *format == TraceFormat::kNsys ? 97 : 1;
    for (std::size_t length = 0; length < whole.size(); length += step)
      import_anything(*format, whole.substr(0, length));
  }
}

TEST(EverySample, WithAByteChangedIsReadOrRefused) {
  std::uint64_t random = 12345;
  for (const auto& entry : std::filesystem::directory_iterator(sample_path(""))) {
    const std::string whole = sample(entry.path().filename().string());
    const auto format = recognise(whole);
    if (!format) continue;
    for (int i = 0; i < 1000; ++i) {
      std::string changed = whole;
      random = random * 6364136223846793005u + 1442695040888963407u;
      changed[(random >> 33) % changed.size()] = static_cast<char>(random >> 20);
      import_anything(*format, changed);
    }
  }
}

}  // namespace
}  // namespace tutti::core
