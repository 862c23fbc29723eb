// Imports files in the variants of a format that other releases, tools and launchers write
// (tests/data/traces).

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "core/import/import.h"
#include "core/import/measurements_of_run.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/measured/nccl_tests.h"
#include "core/scenario/scenario.h"
#include "tests/core/import/imported.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"
#include "tests/support/samples.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::replaced;
using test::run_of_texts;
using test::sample;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ------------------------------------------------------------------------------ PyTorch profiler

TEST(KinetoVariants, PacksHaveTheGradientsThatGiveTheirSizes) {
  // The host begins to accumulate the first gradient of the second pack before it issues the first.
  const StepModel model = step_model(run_of_texts({sample("kineto_embedding.json")}));
  ASSERT_THAT(model.gradients, SizeIs(5));
  ASSERT_THAT(model.packs, SizeIs(2));
  EXPECT_THAT(model.packs[0].gradients, ElementsAre(0, 1));
  EXPECT_THAT(model.packs[1].gradients, ElementsAre(2, 3));
  EXPECT_EQ(model.gradients[4].pack, -1);
}

TEST(KinetoVariants, GradientsWithoutAnAllReduceAreComputedButNotReduced) {
  const MeasuredRun run = run_of_texts({sample("kineto_embedding.json")});
  StepModel model = step_model(run);
  const std::int64_t update = model.update_ns, gap = model.forward_gap_ns;
  ASSERT_THAT(model.gradients, SizeIs(5));
  const StepModel::Layer dropped = model.layers.at(model.gradients[4].layer);
  EXPECT_GT(dropped.backward_ns, 0);
  const auto notes = fit_gradients(model, {});
  ASSERT_TRUE(notes) << notes.error().message();
  EXPECT_THAT(*notes, ElementsAre(HasSubstr("1 of 5 gradients are in no all-reduce")));
  EXPECT_THAT(model.gradients, SizeIs(4));
  EXPECT_THAT(model.packs[1].gradients, ElementsAre(2, 3));
  EXPECT_EQ(model.update_ns, update + dropped.backward_ns);
  EXPECT_EQ(model.forward_gap_ns, gap + dropped.gap_ns);
  const auto made = scenario_of_run(run, model, "mine", {});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->notes, Each(testing::Not(HasSubstr("bucket sizes"))));
  const auto scenario = read_scenario(made->text, "mine.textproto", test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  ASSERT_THAT(scenario->plan.packs, SizeIs(2));
  EXPECT_EQ(scenario->workload.bytes(), Bytes((513'000 + 300'256) * 4));
}

TEST(KinetoVariants, PacksThatDdpWouldNotFormBecomeVariables) {
  // Each of the modules of a model may have its own DDP, whose first bucket is small.
  StepModel model;
  model.has_buckets = true;
  const std::vector<std::vector<std::int64_t>> packs{{10, 500'000}, {300'000}, {200, 10, 900'000}};
  for (std::int32_t p = 0; p < 3; ++p) {
    StepModel::Pack& pack = model.packs.emplace_back();
    pack.type = {"float32", 4};
    pack.bytes = 0;
    for (const std::int64_t elements : packs[static_cast<std::size_t>(p)]) {
      const auto g = static_cast<std::int32_t>(model.gradients.size());
      pack.gradients.push_back(g);
      pack.bytes += elements * 4;
      model.layers.push_back({"layer", 1000, 10});
      model.gradients.push_back({"g", elements, {"float32", 4}, {elements}, g, p});
    }
  }
  EXPECT_TRUE(limits_of_packs(model));
  std::swap(model.packs[0].gradients, model.packs[1].gradients);
  std::swap(model.packs[0].bytes, model.packs[1].bytes);
  EXPECT_FALSE(limits_of_packs(model));
  const auto notes = fit_gradients(model, {});
  ASSERT_TRUE(notes);
  EXPECT_THAT(*notes, ElementsAre(HasSubstr("one variable for each of the 3 packs, instead of "
                                            "one for each of the 6 gradients")));
  ASSERT_THAT(model.gradients, SizeIs(3));
  EXPECT_EQ(model.gradients[0].elements, 300'000);
  EXPECT_EQ(model.gradients[2].elements, 900'210);
  EXPECT_TRUE(limits_of_packs(model));
  std::int64_t backward = 0;
  for (const StepModel::Layer& layer : model.layers) backward += layer.backward_ns;
  EXPECT_EQ(backward, 6000);
}

TEST(KinetoVariants, TheLayersOfAModelTakeTheMedianTimeOfTheBackwardPass) {
  // In each of three steps, the host launches the kernels of another of three layers 60 µs late.
  MeasuredRun run;
  run.world_size = 1;
  MeasuredRank& rank = run.ranks.emplace_back();
  for (std::int32_t s = 0; s < 3; ++s) {
    const std::int64_t t = s * 1'000'000;
    MeasuredStep& step = rank.steps.emplace_back();
    step.number = s;
    step.start_ns = step.backward_ns = t;
    step.end_ns = step.backward_end_ns = t + 360'000;
    step.layers = {"c", "b", "a"};
    std::int64_t at = t;
    for (std::int32_t layer = 0; layer < 3; ++layer) {
      at += s == layer ? 60'000 : 0;
      rank.compute.push_back({at, at + 100'000, s, layer, MeasuredPhase::kBackward});
      at += 100'000;
      step.gradients.push_back({"", at, 10, {"float32", 4}, {10}, layer, -1});
    }
  }
  const StepModel model = step_model(run);
  std::int64_t computed = 0, gaps = 0;
  for (const StepModel::Layer& layer : model.layers)
    computed += layer.backward_ns, gaps += layer.gap_ns;
  EXPECT_EQ(computed, 300'000);
  // The median of each layer's gap is 0, so no layer is known to wait.
  EXPECT_EQ(gaps, 0);
  EXPECT_EQ(model.backward_ns, 360'000);
  // If each layer waits 60 µs in two of three steps, so does its median, but no step waits 180 µs.
  for (MeasuredCompute& c : rank.compute) c.start_ns += c.layer == c.step ? -60'000 : 60'000;
  for (const StepModel::Layer& layer : step_model(run).layers) {
    EXPECT_EQ(layer.gap_ns, 40'000);
    EXPECT_EQ(layer.backward_ns, 80'000);
  }
}

TEST(KinetoVariants, TheScenarioOfASingleGpuNeedsNoNccl) {
  const std::string text =
      replaced(sample("kineto_rank0.json"), "\"world_size\": 2", "\"world_size\": 1");
  MeasuredRun run = run_of_texts({text});
  ASSERT_EQ(run.world_size, 1);
  EXPECT_EQ(run.nccl_version, "2.21.5");
  StepModel model = step_model(run);
  ASSERT_TRUE(fit_gradients(model, {}));
  const auto made = scenario_of_run(run, model, "mine", {});
  ASSERT_TRUE(made);
  const auto scenario = read_scenario(made->text, "mine.textproto", test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->cluster->replicas(), 1);
}

TEST(KinetoVariants, NotesTellThatFilesAreOfDifferentRuns) {
  const std::string first = sample("kineto_rank0.json");
  EXPECT_THAT(run_of_texts({first, sample("kineto_rank1.json")}).notes,
              Each(testing::Not(HasSubstr("the same run"))));
  const std::string other =
      replaced(replaced(sample("kineto_rank1.json"), "\"world_size\": 2", "\"world_size\": 16"),
               "A100-SXM4-80GB", "H100 80GB HBM3");
  const auto notes = run_of_texts({first, other}).notes;
  EXPECT_THAT(notes, Contains(HasSubstr("this trace comes from a run of 16 ranks, but the previous "
                                        "trace comes from a run of 2")));
  EXPECT_THAT(notes, Contains(HasSubstr("this trace was recorded on NVIDIA H100 80GB HBM3")));
}

// ------------------------------------------------------------------------------ dumps and logs

TEST(InspectorVariants, RecordsInheritTheHeaderOfTheStatisticsBeforeThem) {
  const MeasuredRun run = run_of_texts({sample("inspector_inherited.jsonl")});
  ASSERT_THAT(run.ranks, SizeIs(1));
  EXPECT_EQ(run.ranks[0].rank, 1);
  EXPECT_EQ(run.ranks[0].host, "node0");
  EXPECT_EQ(run.world_size, 4);
  ASSERT_THAT(run.ranks[0].collectives, SizeIs(4));
  EXPECT_EQ(run.ranks[0].collectives[0].kind, MeasuredKind::kAllGather);
  EXPECT_EQ(run.ranks[0].collectives[0].bytes, 4 << 20);
  EXPECT_EQ(run.ranks[0].collectives[0].algorithm, "ring");
  EXPECT_EQ(run.ranks[0].collectives[2].duration_ns, 121'000);
  EXPECT_EQ(run.counts.ignored().at("event of the proxy"), 2);
  EXPECT_EQ(run.counts.unknown().at("record with memory_perf"), 1);
}

TEST(InspectorVariants, RecordsBeforeAnyHeaderAreCounted) {
  const std::string text = sample("inspector_inherited.jsonl");
  const std::string later = text.substr(text.find('\n') + 1);  // without the first header
  const MeasuredRun run = run_of_texts({later});
  EXPECT_THAT(run.ranks[0].collectives, SizeIs(2));
  EXPECT_EQ(run.counts.incomplete().at("record without a header"), 2);
}

TEST(InspectorVariants, RcclsProfilerStatesOnlyRanks) {
  const MeasuredRun run = run_of_texts({sample("inspector_rccl.jsonl")});
  ASSERT_THAT(run.ranks, SizeIs(2));
  EXPECT_EQ(run.ranks[1].rank, 1);
  EXPECT_THAT(run.ranks[1].collectives, SizeIs(2));
  EXPECT_EQ(run.ranks[1].collectives[0].channels, 4);
  const auto tables = parse_nccl_tests(*measurements_of_run(run), "log");
  ASSERT_TRUE(tables);
  // Rank 1 starts first, and waits 30 µs for rank 0.
  EXPECT_NEAR((*tables)[0].rows[0].out_of_place->us, 150.3, 0.001);
}

TEST(NcclLogVariants, ReadsReleasesBefore27AndProcessesWithSeveralGpus) {
  const MeasuredRun run = run_of_texts({sample("nccl_2_4.log")});
  EXPECT_EQ(run.nccl_version, "2.4.8");
  EXPECT_FALSE(run.is_rocm);
  ASSERT_THAT(run.ranks, SizeIs(4));
  EXPECT_EQ(run.world_size, 4);
  EXPECT_EQ(run.transports.at("P2P/IPC"), 2);
  EXPECT_EQ(run.transports.at("NET/Socket"), 2);
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(run.ranks[r].rank, static_cast<std::int64_t>(r));
    EXPECT_THAT(run.ranks[r].collectives, SizeIs(r < 2 ? 1 : 0)) << r;
  }
  EXPECT_EQ(run.counts.incomplete().at("line with the messages of two threads"), 1);
  EXPECT_THAT(run.variables, IsEmpty());
}

TEST(NcclLogVariants, ReadsRcclAndPrefixesOfTorchrun) {
  const MeasuredRun run = run_of_texts({sample("nccl_rccl.log")});
  EXPECT_EQ(run.nccl_version, "2.26.6");
  EXPECT_TRUE(run.is_rocm);
  ASSERT_THAT(run.ranks, SizeIs(2));
  EXPECT_EQ(run.ranks[0].host, "node0");
  EXPECT_EQ(run.ranks[1].pid, 80);
  ASSERT_THAT(run.ranks[1].collectives, SizeIs(1));
  EXPECT_EQ(run.ranks[1].collectives[0].bytes, 2 * 268'435'456LL);
}

TEST(MlperfVariants, LogsBeginWithOtherLinesAndBertPacksSequences) {
  const std::string text = sample("mlperf_bert.log");
  EXPECT_EQ(recognise(text.substr(0, 120)), TraceFormat::kMlperf);
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.world_size, -1);
  EXPECT_EQ(run.ranks[0].steps[0].host_ns, 512'000'000);
  const MeasuredRun other = run_of_texts({replaced(text, "\"bert\"", "\"gpt3\"")});
  EXPECT_EQ(other.world_size, 32);
}

TEST(FlightRecorderVariants, AGroupWithoutRanksHasAnUnknownSize) {
  const std::string text =
      R"({"version": "2.10", "comm_lib_version": "NCCL 2.27.3", "pg_config": {"0": {"name": "0",)"
      R"( "desc": "default_pg", "ranks": "[]"}}, "entries": [{"record_id": 0, "pg_id": 0,)"
      R"( "process_group": ["0", "default_pg"], "collective_seq_id": 1, "profiling_name":)"
      R"( "nccl:all_reduce", "input_sizes": [[4]], "input_dtypes": ["Float"], "state":)"
      R"( "completed"}]})";
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.world_size, -1);
  EXPECT_EQ(run.nccl_version, "2.27.3");
}

TEST(FlightRecorderVariants, ADumpOfPytorch22IsAListOfEntries) {
  const std::string entry =
      R"({"pg_id": 0, "seq_id": 1, "profiling_name": "nccl:all_reduce", "time_created_us": 1700000000000005, "input_sizes": [[1024, 256]], "frames": [], "state": "completed"})";
  const MeasuredRun run = run_of_texts({"[" + entry + ", " + entry + "]"});
  EXPECT_EQ(run.format, "PyTorch Flight Recorder");
  ASSERT_THAT(run.ranks, SizeIs(1));
  ASSERT_THAT(run.ranks[0].collectives, SizeIs(2));
  EXPECT_EQ(run.ranks[0].collectives[0].kind, MeasuredKind::kAllReduce);
  EXPECT_EQ(run.counts.incomplete().at("entry of unknown size"), 2);  // the type is missing
}

// ------------------------------------------------------------------------------ files

TEST(LogFiles, MayBeCompressedButNotEncodedInUtf16) {
  const test::TemporaryFolder files;
  const std::string text =
      "# size count type redop root time algbw busbw #wrong\n"
      "1024 256 float sum -1 21.36 0.05 0.07 0\n";
  const std::string path = files.file("log.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  const auto tables = load_nccl_tests(path);
  ASSERT_TRUE(tables) << tables.error().message();
  EXPECT_THAT((*tables)[0].rows, SizeIs(1));
  const auto refused = load_nccl_tests(files.write("utf16.log", std::string("\xFF\xFE#\0", 4)));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("UTF-16"));
}

}  // namespace
}  // namespace tutti::core
