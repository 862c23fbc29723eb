// The command `tutti simulate`: the contents of its report, the requests and files that it rejects,
// and the timelines that it writes, also when it is interrupted.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

TEST(Simulate, RefusesANegativeSeed) {
  const TemporaryFolder folder;
  expect_refused({"simulate", scenario("10_noise"), "--seed", "-1"}, folder,
                 {ProblemCode::kInvalid, "--seed"});
  EXPECT_EQ(run_tutti({"simulate", scenario("10_noise"), "--seed=7"}).status, 0);
}

TEST(Simulate, RefusesASeedOfMoreThan64Bits) {
  const Outcome o = run_tutti({"simulate", scenario("10_noise"), "--seed", "18446744073709551616"});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("expected at most 18446744073709551615"));
  EXPECT_THAT(run_tutti({"simulate", scenario("10_noise"), "--seed", "18446744073709551615"}).out,
              HasSubstr("seed 18446744073709551615"));
}

TEST(Simulate, AcceptsQuantitiesAsReportsPrintThem) {
  const auto with = [](const std::string& setting) {
    return run_tutti({"simulate", scenario("01_two_ranks"), "--set", setting}).out;
  };
  EXPECT_EQ(with("strategy.bytes_per_pack=25 MiB"), with("strategy.bytes_per_pack=26214400"));
  EXPECT_THAT(run_tutti({"simulate", scenario("01_two_ranks"), "--set",
                         "strategy.bytes_per_pack=25 parsec"})
                  .err,
              HasSubstr("found \"25 parsec\""));
}

TEST(Simulate, NamesAnUnknownOptionBeforeAMissingScenario) {
  EXPECT_THAT(run_tutti({"simulate", "--formta"}).err, HasSubstr("unknown option --formta"));
  EXPECT_THAT(run_tutti({"simulate"}).err, HasSubstr("scenario is required"));
  EXPECT_THAT(run_tutti({"simulate", ""}).err, HasSubstr("the path is empty"));
}

TEST(Simulate, ReportsACalibrationWithoutEffect) {
  const TemporaryFolder folder;
  const Outcome gone =
      run_tutti({"simulate", scenario("04_resnet50_ring"), "--calibration", folder.file("gone")});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, HasSubstr("gone does not exist"));
  const Outcome unused = run_tutti(
      {"simulate", scenario("04_resnet50_ring"), "--calibration", folder.write("c.json", "{}")});
  EXPECT_EQ(unused.status, 0) << unused.err;
  EXPECT_THAT(unused.out + unused.err, HasSubstr("has no effect, because no collective uses NCCL"));
}

TEST(Simulate, NamesTheSlowestReplica) {
  const Outcome text = run_tutti({"simulate", scenario("08_straggler")});
  EXPECT_THAT(text.out, HasSubstr("w1/gpu3 in 3 of 3 steps"));
  EXPECT_THAT(text.out, HasSubstr("w1/gpu3 takes 1.3333 times as long"));
  const core::Value document = test::parse_or_throw(
      run_tutti({"simulate", scenario("08_straggler"), "--format", "json"}).out, "out");
  const Data json(document);
  EXPECT_EQ(json["awaited"].text(), "w1/gpu3");
  EXPECT_GT(json["awaited_for_us"].real(), 34'000);
  // If all devices are identical, the report does not name the slowest one.
  EXPECT_THAT(run_tutti({"simulate", scenario("06_resnet50_nccl")}).out,
              Not(testing::ContainsRegex(" in [0-9] of [0-9] steps")));
}

TEST(Simulate, ShowsNcclsChoiceAndItsErrorBand) {
  const std::string file = scenario("06_resnet50_nccl");
  const core::Value document =
      test::parse_or_throw(run_tutti({"simulate", file, "--format", "json"}).out, "out");
  const Data json(document);
  EXPECT_LE(json["step_time_band"]["low_us"].real(), json["step_time_us"].real());
  EXPECT_GT(json["step_time_band"]["high_us"].real(), json["step_time_us"].real());
  EXPECT_EQ(json["packs"].items()[0]["nccl"].text(), "Tree LL128, 8 channels × 640 threads");
  EXPECT_LT(json["packs"].items()[0]["error_band"]["low"].real(), 1);
  EXPECT_GT(json["packs"].items()[0]["error_band"]["high"].real(), 1);
  const core::Value rings = test::parse_or_throw(
      run_tutti({"simulate", file, "--nccl", "rings", "--format", "json"}).out, "out");
  EXPECT_FALSE(Data(rings)["packs"].items()[0].has("nccl"));
  EXPECT_FALSE(Data(rings).has("step_time_band"));
  const Outcome plan = run_tutti({"plan", file, "--check"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("threads: each of 16 replicas"));
}

TEST(Plan, ShowsATraceThatHasOnlyMessages) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(scenario("02_eight_hosts_ring"), folder.file("s.textproto"));
  const Outcome made = run_tutti({"export", folder.file("s.textproto"), "--to", "goal"});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string trace = folder.file("s.goal.textproto");
  const Outcome plan = run_tutti({"plan", trace, "--check"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr(" and 0 collectives of a trace (GOAL)"));
  expect_refused({"plan", trace, "--schedule"}, folder, {ProblemCode::kTooLarge, "--pack"});
}

TEST(Simulate, ShowsHowMuchCommunicationSlowsComputation) {
  const TemporaryFolder folder;
  const std::string file = scenario("16_interference");
  EXPECT_THAT(run_tutti({"simulate", file}).out, HasSubstr("\nslowed by communication "));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"simulate", file, "--interference", "off"},
        {"simulate", scenario("02_eight_hosts_ring")}})
    EXPECT_THAT(run_tutti(words).out, Not(HasSubstr("\nslowed by communication ")));
  expect_refused({"simulate", file, "--interference", "sometimes"}, folder,
                 {ProblemCode::kUnknownName, "--interference"});
  expect_refused(
      {"run", folder.write("on.textproto", std::string(kSmall) + "run { interference: ON }")},
      folder, {ProblemCode::kUnsupported, "Run.interference"});
  const auto json = [&](const std::string& how) {
    return test::parse_or_throw(
        run_tutti({"simulate", file, "--interference", how, "--format", "json"}).out, "out");
  };
  const core::Value with = json("auto"), without = json("off");
  const Data slowed(with), plain(without);
  EXPECT_NEAR(slowed["backward_us"].real() + slowed["other_compute_us"].real(),
              plain["backward_us"].real() + plain["other_compute_us"].real() +
                  slowed["slowed_by_communication_us"].real(),
              0.001);
  EXPECT_GT(slowed["slowed_by_communication_us"].real(), 300);
  EXPECT_EQ(plain["slowed_by_communication_us"].real(), 0);
}

TEST(Simulate, ADeadLinkFailsTheRunAndKeepsEarlierSteps) {
  const TemporaryFolder folder;
  std::ifstream shipped(scenario("08_straggler"));
  std::string text{std::istreambuf_iterator<char>(shipped), {}};
  const std::string share = "bandwidth_share: 0.1";
  text.replace(text.find(share), share.size(), "bandwidth_share: 0");
  const std::string dead = folder.write("dead.textproto", text);
  for (const char* model : {"fifo", "fair"}) {
    const Outcome o = run_tutti(
        {"simulate", dead, "--network-model", model, "--timeline", folder.file("dead.tutti")});
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.err, AllOf(HasSubstr("step 2 "), HasSubstr("w0/nic2→network"),
                             HasSubstr(" 300 ms"), HasSubstr("2 of 4 steps")));
    EXPECT_THAT(run_tutti({"export", folder.file("dead.tutti"), "--to", "csv", "--table", "steps",
                           "-o", "-"})
                    .out,
                HasSubstr("awaited,awaited_for_us"));
  }
}

TEST(RunForReal, RefusesConditions) {
  const TemporaryFolder folder;
  expect_refused({"run", scenario("08_straggler")}, folder,
                 {ProblemCode::kUnsupported, "Condition"});
}

TEST(Simulate, PrintsJson) {
  const Outcome o = run_tutti({"simulate", scenario("06_resnet50_nccl"), "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.err, IsEmpty());
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data json(document);
  const double step = json["step_time_us"].real();
  EXPECT_GT(step, 110'000);
  EXPECT_GT(step, json["lower_bound"]["step_us"].real());
  EXPECT_GT(json["communication_us"].real(), json["exposed_communication_us"].real());
  EXPECT_EQ(json["packs"].items().size(), 4u);
  EXPECT_EQ(json["links"].items().size(), 100u);
  double last = json["critical_path"].items()[0]["start_us"].real();
  for (const Data& piece : json["critical_path"].items()) {
    EXPECT_NEAR(piece["start_us"].real(), last, 1e-5) << "no gaps";
    last = piece["end_us"].real();
  }
  EXPECT_FALSE(json["critical_path_in_words"].items().empty());
  EXPECT_NEAR(json["forward_us"].real() + json["backward_us"].real() +
                  json["other_compute_us"].real() + json["exposed_communication_us"].real(),
              step, 1e-4);
}

// With noise, steps differ, so the mean equals no single step.
TEST(Simulate, SimulateAndCompareShowTheSameTimes) {
  const TemporaryFolder folder;
  const std::string file = folder.file("noise.tutti");
  const Outcome simulated = run_tutti({"simulate", scenario("10_noise"), "--format", "json",
                                       "--timeline", file, "--record", "none"});
  ASSERT_EQ(simulated.status, 0) << simulated.err;
  const core::Value of_one = test::parse_or_throw(simulated.out, "out");
  const core::Value of_two =
      test::parse_or_throw(run_tutti({"compare", file, file, "--format", "json"}).out, "out");
  const Data one(of_one), two(of_two);
  for (const char* part : {"step_time", "forward", "backward", "other_compute", "communication",
                           "exposed_communication"})
    EXPECT_EQ(one[std::string(part) + "_us"].real(), two[part]["first_us"].real()) << part;
  EXPECT_NE(one["backward_us"].real(), one["steps"].items().back()["backward_us"].real());
  EXPECT_EQ(one["steady_basis"].text(), "mean of steps 1 to 9");
}

// The report lists a bounded number of steps, so that long runs take no more memory than short
// ones.
TEST(Simulate, ListsTheFirstStepsAndTheLastOneOfALongRun) {
  const TemporaryFolder folder;
  const std::string file = folder.file("long.tutti");
  const Outcome simulated = run_tutti({"simulate", scenario("01_two_ranks"), "--steps", "10500",
                                       "--format", "json", "--timeline", file, "--record", "none"});
  ASSERT_EQ(simulated.status, 0) << simulated.err;
  const core::Value document = test::parse_or_throw(simulated.out, "out");
  const Data json(document);
  const auto steps = json["steps"].items();
  ASSERT_EQ(steps.size(), 10'000U);
  EXPECT_EQ(json["steps_not_listed"].number(), 500);
  EXPECT_EQ(steps[9'998]["step"].number(), 9'998);
  EXPECT_EQ(steps[9'999]["step"].number(), 10'499);
  EXPECT_EQ(json["steady_basis"].text(), "mean of steps 1 to 10499");
  EXPECT_NEAR(json["step_time_us"].real(),
              (steps[9'999]["end_us"].real() - steps[0]["end_us"].real()) / 10'499, 1e-5);
  const Outcome table = run_tutti({"export", file, "--to", "csv", "--table", "steps", "-o", "-"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 10'501)
      << "a heading and all steps";
}

TEST(Simulate, IsReproducible) {
  const auto run = [] {
    return run_tutti({"simulate", scenario("05_resnet50_pscpu"), "--format", "json"}).out;
  };
  EXPECT_EQ(run(), run());
}

TEST(Simulate, OptionsOverrideTheScenario) {
  const Outcome o = run_tutti({"simulate", scenario("01_two_ranks"), "--steps", "4", "--seed", "9",
                               "--network-model", "ideal", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data json(document);
  EXPECT_EQ(json["steps"].items().size(), 4u);
  EXPECT_EQ(json["seed"].number(), 9);
  EXPECT_EQ(json["network_model"].text(), "ideal");
}

TEST(Simulate, ReadsJsonScenarios) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.json",
      R"({"cluster": {"workers": {"machine": "dgx1-v100"}}, "workload": {"variable": [{"name": "a", "shape": [3, 5]}]},
    "strategy": {"algorithm": "pscpu"}})");
  const Outcome o = run_tutti({"simulate", file, "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(Data(test::parse_or_throw(o.out, "out"))["replicas"].number(), 8);
  EXPECT_THAT(Data(test::parse_or_throw(o.out, "out"))["strategy"].text(), StartsWith("pscpu"));
}

TEST(Simulate, ReportsAllProblemsWithTheirPositions) {
  const TemporaryFolder folder;
  const std::string file = folder.write("bad.textproto",
                                        "cluster { workers { machine: \"dgx1-v10\" } }\n"
                                        "workload { model: \"resnet\" bach: 3 }\n"
                                        "strategy { algorithm: \"ring\" shards: -1 }\n"
                                        "run { compute_jitter_percent: nan }\n");
  for (const Mistake& one : {Mistake{ProblemCode::kUnknownName, "Workers.machine", 1, 30, file},
                             {ProblemCode::kUnknownName, "Workload.model", 2, 19, file},
                             {ProblemCode::kUnknownField, "Workload.bach", 2, 28, file},
                             {ProblemCode::kTooSmall, "Strategy.shards", 3, 38, file},
                             {ProblemCode::kInvalid, "Run.compute_jitter_percent", 4, 31, file}})
    expect_refused({"simulate", file, "--timeline", folder.file("t.tutti")}, folder, one);
}

TEST(Simulate, RefusesFilesThatAreNotScenarios) {
  const TemporaryFolder folder;
  expect_refused({"simulate", folder.file("absent")}, folder,
                 {.code = ProblemCode::kMissing, .file = folder.file("absent")});
  expect_refused({"simulate", folder.path()}, folder,
                 {.code = ProblemCode::kWrongType, .file = folder.path()});
  expect_refused({"simulate", folder.write("empty", "")}, folder,
                 {ProblemCode::kMissing, "Scenario.cluster", 1, 1, folder.file("empty")});
  expect_refused({"simulate", folder.write("binary", std::string("%ELF\0\1\2", 7))}, folder,
                 {ProblemCode::kUnsupported, "", 0, 0, folder.file("binary")});
  expect_refused({"simulate", folder.write("open.json", "{\"cluster\": {")}, folder,
                 {ProblemCode::kSyntax, "", 1, 14, folder.file("open.json")});
}

TEST(Simulate, RefusesTextsThatAreNotUtf8) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", "name: \"caf\xe9\"" + std::string(kSmall));
  expect_refused({"simulate", file}, folder, {ProblemCode::kSyntax, "", 1, 11, file});
  expect_refused({"simulate", folder.write("e.textproto", R"(name: "\xff")" + std::string(kSmall))},
                 folder, {ProblemCode::kSyntax, "", 1, 7, folder.file("e.textproto")});
  // A scenario without a name has the name of its file.
  for (const char* command : {"simulate", "plan"})
    expect_refused({command, folder.write("\xff.textproto", kSmall)}, folder,
                   {ProblemCode::kInvalid, "scenario"});
  expect_refused({"init", "--machine", "\xff"}, folder, {ProblemCode::kSyntax, "", 0, 0});
  const Outcome o =
      run_tutti({"simulate", folder.write("b.textproto", "\xEF\xBB\xBF" + std::string(kSmall))});
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST(Simulate, OverwritesNoInput) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  expect_refused({"simulate", file, "--timeline", file}, folder,
                 {.code = ProblemCode::kConflict, .file = file});
  expect_refused({"simulate", file, "--timeline", folder.path()}, folder,
                 {.code = ProblemCode::kWrongType, .file = folder.path()});
  expect_refused({"simulate", file, "--timeline", folder.file("no/such/folder.tutti")}, folder,
                 {.file = folder.file("no/such/folder.tutti")});
  EXPECT_EQ(folder.read("s.textproto"), kSmall);
  const std::string model = folder.write("my_model.csv", "name,shape,type\na,3,\n");
  expect_refused({"simulate", file, "--timeline", model}, folder,
                 {.code = ProblemCode::kConflict, .file = model});
  EXPECT_EQ(folder.read("my_model.csv"), "name,shape,type\na,3,\n");
  const std::string left_over = folder.write("t.tutti.part", "all that is left");
  for (const char* before : {"", "TUTTITL1"}) {
    const std::string timeline = folder.write("t.tutti", before);
    EXPECT_EQ(run_tutti({"simulate", file, "--timeline", timeline}).status, 0)
        << "timelines and empty files are overwritten";
  }
  EXPECT_EQ(folder.read("t.tutti.part"), "all that is left");
  EXPECT_THAT(folder.files(),
              ElementsAre("my_model.csv", "s.textproto", "t.tutti", "t.tutti.part"));
}

TEST(Simulate, WritesToDevicesWithoutReplacingThem) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  EXPECT_EQ(run_tutti({"simulate", file, "--timeline", "/dev/null"}).status, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Outcome full = run_tutti({"simulate", file, "--timeline", "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("/dev/full: "));
  EXPECT_EQ(full.out, run_tutti({"simulate", file}).out)
      << "results are printed even if the timeline fails";
  const Outcome out = run_tutti({"simulate", file}, {.out_file = "/dev/full"});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("standard output"));
}

TEST(OutputFiles, RefuseTheNameOfStandardOutput) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"simulate", file, "--timeline", "-"},
           {"sweep", file, "--over", "run.seed=1,2", "-o", folder.file("a.sweep"), "--csv", "-"},
           {"sweep", file, "--over", "run.seed=1,2", "-o", "-"},
           {"tune", file, "-o", "-"},
           {"tune", file, "--database", "-"}}) {
    const Outcome o = run_tutti(words, {.folder = folder.path()});
    EXPECT_EQ(o.status, 2) << words[0] << ": " << o.out;
    EXPECT_THAT(o.err, HasSubstr("cannot be written to standard output"));
  }
  EXPECT_THAT(folder.files(), Not(testing::Contains("-")));
}

TEST(Simulate, ReadsAScenarioFromAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe) << kSmall; });
  const Outcome o = run_tutti({"simulate", pipe});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, run_tutti({"simulate", folder.write("pipe.textproto", kSmall)}).out);
}

TEST(Timelines, AreNotReadFromPipes) {
  // Opening a pipe without a writer would block forever.
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe.tutti"), file = folder.write("s.textproto", kSmall);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"compare", pipe, pipe},
                                             {"export", pipe, "--to", "csv", "-o", "-"},
                                             {"calibrate", file, "--run", pipe}}) {
    expect_refused(words, folder, {.code = ProblemCode::kWrongType, .file = pipe});
  }
}

TEST(Simulate, StopsWhenItsTimelineCanNoLongerBeWritten) {
  const Outcome o = run_tutti(
      {"simulate", scenario("05_resnet50_pscpu"), "--steps", "100000", "--timeline", "/dev/full"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, test::says_stopped_by_request());
  EXPECT_THAT(o.err, HasSubstr("/dev/full: "));
}

TEST(Simulate, EndsQuietlyIfTheReaderOfItsOutputHasEnded) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::string timeline = folder.file("t.tutti");
  const Outcome o = run_tutti({"simulate", file, "--timeline", timeline}, {.out_closed = true});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, AllOf(StartsWith("timeline: "), Not(HasSubstr("standard output"))));
  EXPECT_THAT(folder.files(), ElementsAre("s.textproto", "t.tutti")) << "the timeline is whole";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"plan", file},
                                             {"init"},
                                             {"init", "--list"},
                                             {"export", timeline, "--to", "csv", "-o", "-"}}) {
    const Outcome quiet = run_tutti(words, {.out_closed = true});
    EXPECT_EQ(quiet.status, 1) << words[0];
    EXPECT_THAT(quiet.err, IsEmpty());
  }
}

TEST(Simulate, ReportsThatMemoryIsExhausted) {
#ifdef TUTTI_SANITIZED
  GTEST_SKIP() << "sanitizers need more memory than this, and end the program themselves";
#endif
  const TemporaryFolder folder;
  const std::string file = folder.file("s.textproto");
  ASSERT_EQ(run_tutti({"init", "--machine", "cpu-host", "--nodes", "5000000", "-o", file}).status,
            0);
  const Outcome o =
      run_tutti({"simulate", file, "--timeline", folder.file("t.tutti")}, {.memory_mb = 200});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("out of memory (ulimit -v is 0.2 GB)"));
  EXPECT_THAT(folder.files(), ElementsAre("s.textproto"));
}

TEST(Simulate, FollowsSymbolicLinksToTheTimeline) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  fs::create_symlink("real.tutti", folder.file("link.tutti"));
  EXPECT_EQ(run_tutti({"simulate", file, "--timeline", folder.file("link.tutti")}).status, 0);
  EXPECT_TRUE(fs::is_symlink(folder.file("link.tutti")));
  EXPECT_THAT(folder.read("real.tutti"), StartsWith("TUTTI"));
}

TEST(Simulate, AnInterruptLeavesACompleteTimelineOfTheStepsThatRan) {
  const TemporaryFolder folder;
  const std::string timeline = folder.file("t.tutti");
  const Outcome o = run_tutti(
      {"simulate", scenario("05_resnet50_pscpu"), "--steps", "100000", "--timeline", timeline},
      {.interrupt_once = timeline + ".part"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, test::says_stopped_by_request());
  ASSERT_THAT(folder.files(), ElementsAre("t.tutti"));
  const Outcome read =
      run_tutti({"export", timeline, "--to", "csv", "--table", "steps", "-o", "-"});
  EXPECT_EQ(read.status, 0);
  EXPECT_THAT(read.err, IsEmpty()) << "the file is complete";
}

TEST(Compare, FailsIfStepTimesDifferByMoreThanAllowed) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::string a = folder.file("a.tutti"), b = folder.file("b.tutti");
  ASSERT_EQ(run_tutti({"simulate", file, "--timeline", a}).status, 0);
  ASSERT_EQ(
      run_tutti({"simulate", file, "--timeline", b, "--set", "strategy.algorithm=psgpu"}).status,
      0);
  EXPECT_EQ(run_tutti({"compare", a, a, "--within", "0"}).status, 0);
  EXPECT_EQ(run_tutti({"compare", a, b}).status, 0);
  EXPECT_EQ(run_tutti({"compare", a, b, "--within", "100000"}).status, 0);
  const Outcome o = run_tutti({"compare", a, b, "--within", "0.1"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("which is more than --within 0.1"));
  EXPECT_THAT(o.out, HasSubstr("step time"));
  for (const char* const wrong : {"-1", "nan"})
    EXPECT_EQ(run_tutti({"compare", a, b, "--within", wrong}).status, 2) << wrong;
}

}  // namespace
}  // namespace tutti
