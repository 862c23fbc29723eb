// Imports traces and logs on the command line. Other commands must be able to read the results.

#include <filesystem>

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

std::string sample(const std::string& name) {
  return test::source_folder() + "/tests/data/traces/" + name;
}

Data report_of(core::Value& document, const std::vector<std::string>& words) {
  const Outcome o = run_tutti(test::with(words, {"--format", "json"}));
  EXPECT_EQ(o.status, 0) << o.err;
  document = test::parse_or_throw(o.out, "out");
  return Data(document);
}

TEST(ImportTrace, WritesFilesThatCanBeSimulatedAndCompared) {
  const TemporaryFolder folder;
  const Outcome made =
      run_tutti({"import", sample("kineto_rank0.json"), sample("kineto_rank1.json"), "-o",
                 folder.file("measured.tutti"), "-o", folder.file("mine.textproto"), "-o",
                 folder.file("measured.log")});
  ASSERT_EQ(made.status, 0) << made.err;
  ASSERT_EQ(run_tutti({"simulate", folder.file("mine.textproto"), "--timeline",
                       folder.file("predicted.tutti")})
                .status,
            0);
  core::Value document;
  const Data report = report_of(
      document, {"compare", folder.file("predicted.tutti"), folder.file("measured.tutti")});
  // Both timelines have the same packs with the same gradients.
  EXPECT_EQ(report["packs"].items().size(), 2u);
  EXPECT_EQ(report["packs_of_first_only"].number(), 0);
  EXPECT_EQ(report["packs_of_second_only"].number(), 0);
  for (const char* to : {"perfetto", "csv", "svg"})
    EXPECT_EQ(run_tutti({"export", folder.file("measured.tutti"), "--to", to}).status, 0) << to;
}

TEST(ImportTrace, ReportsWhatWasUsed) {
  core::Value document;
  const Data report = report_of(document, {"import", "kineto", sample("kineto_rank0.json")});
  EXPECT_EQ(report["records"]["used"].number(), 68);
  EXPECT_EQ(report["records"]["unknown"].number(), 0);
  EXPECT_EQ(report["gradients"].number(), 4);
  EXPECT_EQ(report["packs"].items().size(), 2u);
  EXPECT_EQ(report["step_time_us"].number(), 2000);
  core::Value log;
  const Data choices = report_of(log, {"import", sample("nccl_2_24.log")});
  ASSERT_EQ(choices["choices"].items().size(), 2u);
  EXPECT_EQ(choices["choices"].items()[0]["protocol"].text(), "ll128");
}

TEST(ImportTrace, IsRefusedByCodeAndPlace) {
  const TemporaryFolder folder;
  const std::string trace = sample("kineto_rank0.json");
  expect_refused({"import", trace, "-o", folder.file("x.json")}, folder,
                 {ProblemCode::kUnknownName, "-o"});
  expect_refused({"import", folder.file("none.json")}, folder, {ProblemCode::kMissing});
  expect_refused({"import", folder.write("text.json", "hello")}, folder,
                 {ProblemCode::kUnsupported});
  expect_refused({"import", trace, sample("horovod.json")}, folder, {ProblemCode::kConflict});
  expect_refused({"import", trace, trace}, folder,
                 {ProblemCode::kDuplicate, "distributedInfo.rank"});
  expect_refused({"import", "kineto", sample("horovod_killed.json")}, folder,
                 {ProblemCode::kSyntax, "", 64, 21});
  expect_refused({"import", sample("kineto_rocm.json"), "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--machine"});
  expect_refused({"import", sample("kineto_old.json"), "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--model"});
  expect_refused(
      {"import", trace, "--model", "resnet50_torchvision", "-o", folder.file("x.textproto")},
      folder, {ProblemCode::kConflict, "--model"});
  expect_refused({"import", trace, "--nodes", "2", "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--link"});
  expect_refused({"import", sample("nccl_2_24.log"), "-o", folder.file("x.tutti")}, folder,
                 {ProblemCode::kMissing});
  const std::string there = folder.write("x.tutti", "kept");
  expect_refused({"import", trace, "-o", there}, folder, {ProblemCode::kConflict, "-o"});
}

// ------------------------------------------------------------------------------ other simulators

std::string workload(const std::string& name) {
  return test::source_folder() + "/tests/data/execution_traces/" + name;
}

TEST(ImportWorkload, WritesAScenarioThatCanBeSimulated) {
  struct Case {
    std::vector<std::string> words;
    double ranks, least_us;  ///< lower bound of the step time: the computations of a rank
  };
  const TemporaryFolder folder;
  for (const Case& one : std::vector<Case>{
           {{workload("simai.txt")}, 8, 15.1},
           {{"chakra", workload("chakra_json.0.json"), workload("chakra_json.1.json")}, 2, 150},
           {{workload("chakra_json")}, 2, 150},
           {{"pytorch-trace", workload("pytorch.0.json")}, 4, 1},
           {{workload("all_reduce_4npus_1MB.0.et")}, 4, 1},
           {{folder.write("a.goal",
                          "num_ranks 2\nrank 0 {\nl1: calc 5000\nl2: send 10b to 1\n"
                          "l2 requires l1\n}\nrank 1 {\nl1: recv 10b from 0\n}\n")},
            2,
            5}}) {
    const std::string out = folder.file("mine.textproto");
    core::Value document, simulated;
    const Data report =
        report_of(document, test::with(test::with({"import"}, one.words),
                                       {"--machine", "dgx1-v100", "-o", out, "--force"}));
    EXPECT_EQ(report["ranks"].number(), one.ranks) << one.words.back();
    EXPECT_GT(report["records"]["used"].number(), 0) << one.words.back();
    EXPECT_EQ(report["records"]["unknown"].number(), 0) << one.words.back();
    const Data step = report_of(simulated, {"simulate", out});
    EXPECT_GT(step["step_time_us"].real(), one.least_us) << one.words.back();
  }
}

TEST(ImportWorkload, SumsOfTheSummaryDoNotOverflow) {
  const TemporaryFolder folder;
  constexpr int kRows = 1000;
  std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 1 all_gpus: 2\n" +
                     std::to_string(kRows) + "\n";
  // Each computation takes 2^42 ns, and each collective has 2^46 bytes.
  const std::string pass = " 4398046511104 ALLREDUCE 70368744177664";
  for (int row = 0; row < kRows; ++row) text += "a -1" + pass + pass + pass + " 1\n";
  core::Value document;
  const Data report = report_of(document, {"import", folder.write("w.txt", text)});
  EXPECT_GT(report["longest_compute_us"].real(), 9e12);
}

TEST(ImportWorkload, FindsTheCompressedFilesOfAllRanks) {
  const TemporaryFolder folder;
  for (const std::string rank : {"0", "1"})
    std::filesystem::copy_file(workload("chakra_json." + rank + ".json"),
                               folder.file("t." + rank + ".json.gz"));
  core::Value document;
  EXPECT_EQ(report_of(document, {"import", folder.file("t")})["ranks"].number(), 2);
}

TEST(ImportWorkload, IsRefusedByCodeAndPlace) {
  const TemporaryFolder folder;
  const std::string simai = workload("simai.txt");
  const std::string out = folder.file("x.textproto");
  expect_refused({"import", simai, "-o", out}, folder, {ProblemCode::kMissing, "--machine"});
  expect_refused({"import", simai, "-o", out, "--machine", "none"}, folder,
                 {ProblemCode::kUnknownName, "--machine"});
  expect_refused({"import", simai, "-o", out, "--machine", "dgx1-v100", "--nodes", "3"}, folder,
                 {ProblemCode::kConflict, "--nodes"});
  expect_refused({"import", simai, "-o", out, "--machine", "dgx1-v100", "--nodes", "2"}, folder,
                 {ProblemCode::kMissing, "--link"});
  expect_refused({"import", simai, "-o", folder.file("x.tutti")}, folder,
                 {ProblemCode::kUnknownName, "-o"});
  expect_refused({"import", "goal", simai}, folder, {ProblemCode::kInvalid, "Format"});
  expect_refused({"import", simai, workload("pytorch.0.json")}, folder, {ProblemCode::kConflict});
  expect_refused({"import", simai, "--groups", simai}, folder,
                 {ProblemCode::kUnused, "ExecutionTrace.groups"});
  expect_refused({"import", sample("kineto_rank0.json"), "--groups", simai}, folder,
                 {ProblemCode::kUnused, "--groups"});
  expect_refused({"import", simai, "--model", "vgg16_keras"}, folder,
                 {ProblemCode::kUnused, "--model"});
}

TEST(ImportTrace, AThroughputIsComparedWithAPrediction) {
  const TemporaryFolder folder;
  const std::string scenario = test::source_folder() + "/scenarios/06_resnet50_nccl.textproto";
  ASSERT_EQ(run_tutti({"simulate", scenario, "--timeline", folder.file("predicted.tutti")}).status,
            0);
  core::Value document;
  const Data report =
      report_of(document, {"compare", folder.file("predicted.tutti"), sample("mlperf.log")});
  EXPECT_EQ(report["step_time"]["second_us"].real(), 32'000);
  // Whole steps are no workload.
  expect_refused({"import", sample("mlperf.log"), "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing});
}

}  // namespace
}  // namespace tutti
