// Imports traces and logs on the command line. Other commands must be able to read the results.

#include <filesystem>
#include <set>

#include "core/base/file.h"
#include "tests/support/clusters.h"
#include "tests/support/samples.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

using test::replaced;
using test::sample;
using test::sample_path;
using testing::HasSubstr;

Data report_of(core::Value& document, const std::vector<std::string>& words) {
  const Outcome o = run_tutti(test::with(words, {"--format", "json"}));
  EXPECT_EQ(o.status, 0) << o.err;
  document = test::parse_or_throw(o.out, "out");
  return Data(document);
}

TEST(ImportTrace, WritesFilesThatCanBeSimulatedAndCompared) {
  const TemporaryFolder folder;
  const Outcome made =
      run_tutti({"import", sample_path("kineto_rank0.json"), sample_path("kineto_rank1.json"), "-o",
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

TEST(ImportTrace, ReportsTheRecordsThatWereUsed) {
  core::Value document;
  const Data report = report_of(document, {"import", "kineto", sample_path("kineto_rank0.json")});
  EXPECT_EQ(report["records"]["used"].number(), 68);
  EXPECT_EQ(report["records"]["unknown"].number(), 0);
  EXPECT_EQ(report["gradients"].number(), 4);
  EXPECT_EQ(report["packs"].items().size(), 2u);
  EXPECT_EQ(report["step_time_us"].number(), 2000);
  core::Value log;
  const Data choices = report_of(log, {"import", sample_path("nccl_2_24.log")});
  ASSERT_EQ(choices["choices"].items().size(), 2u);
  EXPECT_EQ(choices["choices"].items()[0]["protocol"].text(), "ll128");
}

TEST(ImportTrace, ErrorsHaveCodesAndPositions) {
  const TemporaryFolder folder;
  const std::string trace = sample_path("kineto_rank0.json");
  expect_refused({"import", trace, "-o", folder.file("x.json")}, folder,
                 {ProblemCode::kUnknownName, "-o"});
  expect_refused({"import", folder.file("none.json")}, folder, {ProblemCode::kMissing});
  expect_refused({"import", folder.write("text.json", "hello")}, folder,
                 {ProblemCode::kUnsupported});
  expect_refused({"import", trace, sample_path("horovod.json")}, folder, {ProblemCode::kConflict});
  expect_refused({"import", trace, trace}, folder,
                 {ProblemCode::kDuplicate, "distributedInfo.rank"});
  expect_refused({"import", "kineto", sample_path("horovod_killed.json")}, folder,
                 {ProblemCode::kSyntax, "", 64, 21});
  expect_refused({"import", sample_path("kineto_rocm.json"), "-o", folder.file("x.textproto")},
                 folder, {ProblemCode::kMissing, "--machine"});
  expect_refused({"import", sample_path("kineto_old.json"), "-o", folder.file("x.textproto")},
                 folder, {ProblemCode::kMissing, "--model"});
  expect_refused(
      {"import", trace, "--model", "resnet50_torchvision", "-o", folder.file("x.textproto")},
      folder, {ProblemCode::kConflict, "--model"});
  expect_refused({"import", trace, "--nodes", "2", "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--link"});
  expect_refused({"import", sample_path("nccl_2_24.log"), "-o", folder.file("x.tutti")}, folder,
                 {ProblemCode::kMissing});
  const std::string there = folder.write("x.tutti", "kept");
  expect_refused({"import", trace, "-o", there}, folder, {ProblemCode::kConflict, "-o"});
}

// ------------------------------------------------------------------- host gaps and late ranks

/// A scenario with two GPUs, whose step takes 6 ms without gaps and communication.
std::string two_gpus(const std::string& gaps, const std::string& conditions) {
  return "cluster { workers { machine: \"dgx1-v100\" replicas: 2 } }\n"
         "workload {\n"
         "  variable { name: \"a\" shape: 4 forward_ms: 1 backward_ms: 2 }\n"
         "  variable { name: \"b\" shape: 4 forward_ms: 1 backward_ms: 1" +
         gaps +
         " }\n  update_ms: 1\n}\nstrategy { algorithm: \"ring\" }\nrun { interference: OFF }\n" +
         conditions;
}

double step_us(const TemporaryFolder& folder, const std::string& scenario) {
  core::Value document;
  return report_of(document, {"simulate", folder.write("s.textproto", scenario)})["step_time_us"]
      .real();
}

TEST(HostGaps, LengthenTheStepByTheirTime) {
  const TemporaryFolder folder;
  const double without = step_us(folder, two_gpus("", ""));
  EXPECT_NEAR(step_us(folder, two_gpus(" gap_ms: 3", "")), without + 3000, 0.01);
  const std::string late =
      "conditions { late_host { worker: 0 device: \"gpu1\" before: \"b\" ms: 4 } }\n";
  EXPECT_NEAR(step_us(folder, two_gpus("", late)), without + 4000, 0.01);
  EXPECT_NEAR(step_us(folder, two_gpus(" gap_ms: 3", late)), without + 7000, 0.01);
  const std::string forward = "conditions { late_host { worker: 0 ms: 5 } }\n";
  EXPECT_NEAR(step_us(folder, two_gpus("", forward)), without + 5000, 0.01);
}

TEST(HostGaps, AppearOnTheCriticalPathAndInTheTimeline) {
  const TemporaryFolder folder;
  const std::string scenario = folder.write("s.textproto", two_gpus(" gap_ms: 3", ""));
  const Outcome text = run_tutti({"simulate", scenario, "--timeline", folder.file("gaps.tutti")});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("3.00 ms of this time in 1 host gap"), std::string::npos) << text.out;
  const Outcome csv = run_tutti(
      {"export", folder.file("gaps.tutti"), "--to", "csv", "-o", folder.file("gaps.csv")});
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_NE(folder.read("gaps.csv").find("host gap"), std::string::npos);
}

TEST(HostGaps, ErrorsInLateHostsHaveCodesAndPositions) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& conditions, const test::Mistake& kind) {
    expect_refused({"simulate", folder.write("s.textproto", two_gpus("", conditions))}, folder,
                   kind);
  };
  refused("conditions { late_host { worker: 0 before: \"c\" ms: 1 } }",
          {ProblemCode::kUnknownName, "LateHost.before", 9, 44});
  refused("conditions { late_host { worker: 0 device: \"gpu9\" ms: 1 } }",
          {ProblemCode::kUnknownName, "LateHost.device", 9, 44});
  refused("conditions { late_host { worker: 0 } }", {ProblemCode::kMissing, "LateHost.ms", 9, 24});
  refused("conditions { late_host { ms: 1 } }", {ProblemCode::kMissing, "LateHost.worker", 9, 24});
}

/// The trace of rank 0, with packs that take 600 µs longer than they were measured.
std::string waiting_trace(const TemporaryFolder& folder) {
  std::string text = sample("kineto_rank0.json");
  for (const char* duration : {"\"dur\": 300.0", "\"dur\": 250.0"}) {
    for (std::size_t at = text.find(duration); at != std::string::npos;
         at = text.find(duration, at))
      text.replace(at, std::string(duration).size(), "\"dur\": 3000");
  }
  return folder.write("waiting.json", text);
}

TEST(ImportTrace, ATraceWithWaitingGivesAScenarioWithALateRank) {
  const TemporaryFolder folder;
  const std::string out = folder.file("late.textproto");
  ASSERT_EQ(run_tutti({"import", waiting_trace(folder), "-o", out}).status, 0);
  EXPECT_NE(folder.read("late.textproto").find("late_host { worker: 0 device: \"gpu1\""),
            std::string::npos);
  core::Value document;
  EXPECT_GT(report_of(document, {"simulate", out})["step_time_us"].real(), 3000);
}

TEST(ValidateTrace, PredictsStepsThatAreNotInput) {
  const TemporaryFolder folder;
  core::Value document;
  const Data report =
      report_of(document, {"validate", "--trace", sample_path("kineto_rank0.json")});
  EXPECT_EQ(report["steps"].number(), 2);
  EXPECT_EQ(report["calibrated_on"].number(), 1);
  EXPECT_EQ(report["step_time"]["measured"].number(), 1);
  EXPECT_LT(report["step_time"]["median_error"].real(), 0.2);
  EXPECT_EQ(report["packs"]["measured"].number(), 2);
  EXPECT_LT(report["packs"]["median_error"].real(), report["packs"]["median_error_before"].real());
  expect_refused({"validate", "--trace", sample_path("nccl_2_24.log")}, folder,
                 {ProblemCode::kMissing, "--trace"});
  expect_refused({"validate"}, folder, {ProblemCode::kMissing, "--tables"});
}

TEST(ExplainOperations, ReportsErrorsAndStragglers) {
  const TemporaryFolder folder;
  // Rank 1 takes 30 ms, and rank 0 takes 10 ms; both then reduce in 2 ms.
  std::string log = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id\n";
  for (int s = 0; s < 4; ++s) {
    const std::string t = std::to_string(s);
    log += "0,0,0," + t + ",forward-compute," + t + ".000,0.010,0\n";
    log += "1,0,1," + t + ",forward-compute," + t + ".000,0.030,0\n";
    log += "0,0,0," + t + ",grads-all-reduce," + t + ".010,0.022,0\n";
    log += "1,0,1," + t + ",grads-all-reduce," + t + ".030,0.002,0\n";
  }
  core::Value document;
  const Data report = report_of(document, {"explain", folder.write("job.csv", log)});
  EXPECT_EQ(report["ranks"].number(), 2);
  EXPECT_EQ(report["predicted_steps"].number(), 2);
  EXPECT_LT(report["worst_error"].real(), 1e-6);
  EXPECT_NEAR(report["predicted_us"].real(), 32'000, 0.1);
  const Data first = report["changes"].items().front();
  EXPECT_EQ(first["change"].text(), "no_stragglers");
  EXPECT_NEAR(first["step_time_us"].real(), 22'000, 0.1);
  expect_refused({"explain", folder.write("job.csv", "optype,start_ts,duration\nx,0,1\n")}, folder,
                 {ProblemCode::kMissing, "dp_rank", 1, 0});
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
           {{workload("aicb.csv")}, 8, 15'000},
           {{"aicb", workload("aicb.csv")}, 8, 15'000},
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

TEST(ImportWorkload, TheLogOfAnAicbRunCalibrates) {
  const TemporaryFolder folder;
  std::string log =
      "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time\n"
      "CommType.all_reduce,CommGroup.tp_group,8,8,init,None,None,,3000\n"
      "CommType.epoch_end,None,None,0,,None,None,,9\n";
  // The second row of a size states no group size. Its time differs, so that the median is 0.0625.
  for (const char* row : {"8,1048576,a,None,None,,0.0625", "None,1048576,a,None,None,,0.5",
                          "8,1048576,a,None,None,,0.03125", "8,67108864,a,None,None,,0.75"})
    log += std::string("CommType.all_reduce,CommGroup.tp_group,") + row + "\n";
  ASSERT_EQ(
      run_tutti({"import", folder.write("run.csv", log), "-o", folder.file("times.log")}).status,
      0);
  const std::string times = folder.read("times.log");
  EXPECT_THAT(times, testing::AllOf(HasSubstr("all_reduce_perf"), HasSubstr("62.500"),
                                    HasSubstr("750.000"), testing::Not(HasSubstr("3000000"))));
  EXPECT_EQ(run_tutti({"calibrate", "--cluster", "hgx-h100", "--nodes", "1", "--log",
                       folder.file("times.log"), "-o", folder.file("mine.calibration")})
                .status,
            0);
  expect_refused({"import", workload("aicb.csv"), "-o", folder.file("none.log")}, folder,
                 {ProblemCode::kMissing});
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

TEST(ImportWorkload, ErrorsHaveCodesAndPositions) {
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
  expect_refused({"import", sample_path("kineto_rank0.json"), "--groups", simai}, folder,
                 {ProblemCode::kUnused, "--groups"});
  expect_refused({"import", simai, "--model", "vgg16_keras"}, folder,
                 {ProblemCode::kUnused, "--model"});
}

TEST(ImportTrace, AllCommandsReportAFileOfAnotherKindInTheSameWay) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", "size,time\n8,10.5\n");
  const std::string simai = workload("simai.txt");
  const std::string log = test::source_folder() + "/tests/fuzz/corpus/import/operations.csv";
  for (const std::string& file : {table, simai, log}) {
    std::set<std::string> errors;
    for (const std::vector<std::string>& words : {std::vector<std::string>{"explain", file},
                                                  {"simulate", file},
                                                  {"plan", file},
                                                  {"validate", "--trace", file},
                                                  {"import", file}}) {
      // Some commands read the file.
      const bool reads = (words[0] == "import" && file == simai) ||
                         (words.size() == 2 && words[0] == "explain" && file == log);
      if (reads) continue;
      const Outcome done = run_tutti(words);
      EXPECT_EQ(done.status, 2) << words.front() << ' ' << file;
      errors.insert(done.err);
    }
    EXPECT_EQ(errors.size(), 1u) << testing::PrintToString(errors);
  }
  EXPECT_THAT(run_tutti({"explain", table}).err,
              testing::AllOf(HasSubstr("its first line is \"size,time\""), HasSubstr("kineto")));
  EXPECT_THAT(run_tutti({"simulate", simai}).err, HasSubstr("tutti import FILE --machine"));
  EXPECT_THAT(run_tutti({"simulate", log}).err, HasSubstr("tutti explain FILE"));
  // A mistake in a scenario is reported at its place.
  EXPECT_THAT(run_tutti({"simulate", folder.write("a.textproto", "cluste { }\n")}).err,
              testing::AllOf(HasSubstr("a.textproto:1:"), HasSubstr("cluste")));
}

TEST(ImportTrace, ReadsFilesThatEditorsAndLaunchersChanged) {
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  const auto ranks = [](const std::string& file) {
    core::Value document;
    return report_of(document, {"import", file})["ranks"].number();
  };
  EXPECT_EQ(ranks(folder.write("f.json", mark + sample("nccl_trace_rank_1.json"))), 1);
  core::Value ras;
  EXPECT_EQ(
      report_of(ras, {"import",
                      folder.write("r.json", mark + sample("nccl_ras.json"))})["records"]["unknown"]
          .number(),
      0);
  const std::string log = sample("nccl_2_24.log");
  EXPECT_EQ(ranks(folder.write("n.log", mark + replaced(log, "\n", "\r\n"))), 2);
  EXPECT_EQ(ranks(folder.write("c.log", "\x1b[32m" + replaced(log, "\n", "\x1b[0m\n\x1b[1;32m"))),
            2);
  const std::string operations =
      core::read_text_file(test::source_folder() + "/tests/fuzz/corpus/import/operations.csv")
          .value();
  const Outcome plain = run_tutti({"explain", folder.write("o.csv", operations)});
  const std::string quoted =
      mark + "\"" + replaced(replaced(operations, ",", "\",\""), "\n", "\"\r\n\"");
  const TemporaryFolder other;
  const Outcome changed =
      run_tutti({"explain", other.write("o.csv", quoted.substr(0, quoted.size() - 1))});
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.out, changed.out) << changed.err;
}

TEST(ImportTrace, TakesTheRankFromTheNameOfAFileThatDoesNotStateIt) {
  const TemporaryFolder folder;
  const std::string trace = replaced(sample("kineto_rank0.json"), "distributedInfo", "other");
  core::Value document;
  const Data report =
      report_of(document, {"import", folder.write("trace_rank3.json", trace),
                           folder.write("trace-rank-1.json", trace), "-o", folder.file("m.tutti")});
  EXPECT_EQ(report["ranks"].number(), 2);
  for (const Data& note : report["notes"].items())
    EXPECT_THAT(note.text(), testing::Not(HasSubstr("does not state its rank")));
}

TEST(ImportTrace, SaysHowToConvertAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& name, const std::string& text) {
    return run_tutti({"import", folder.write(name, text)}).err;
  };
  EXPECT_THAT(error("a.json", std::string("\xFF\xFE{\0", 4)), HasSubstr("iconv"));
  EXPECT_THAT(error("a.zip", "PK\x03\x04..."), HasSubstr("unpack"));
  EXPECT_THAT(error("a.nsys-rep", "report"), HasSubstr("nsys export"));
  EXPECT_THAT(error("empty.json", ""), HasSubstr("empty"));
}

TEST(ImportTrace, AThroughputIsComparedWithAPrediction) {
  const TemporaryFolder folder;
  const std::string scenario = test::source_folder() + "/scenarios/06_resnet50_nccl.textproto";
  ASSERT_EQ(run_tutti({"simulate", scenario, "--timeline", folder.file("predicted.tutti")}).status,
            0);
  core::Value document;
  const Data report =
      report_of(document, {"compare", folder.file("predicted.tutti"), sample_path("mlperf.log")});
  EXPECT_EQ(report["step_time"]["second_us"].real(), 32'000);
  // Whole steps are no workload.
  expect_refused({"import", sample_path("mlperf.log"), "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing});
}

}  // namespace
}  // namespace tutti
