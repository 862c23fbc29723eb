// The command `tutti sweep`: its results, plots and error messages.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "tests/support/json.h"
#include "tests/support/process.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(Sweep, APointWithoutEnoughMemoryFailsAloneAndIsStored) {
#ifdef TUTTI_SANITIZED
  GTEST_SKIP() << "sanitizers need the whole address space";
#endif
  const TemporaryFolder folder;
  const Outcome o =
      run_tutti({"sweep", scenario("22_byteps"), "--over", "cluster.workers[0].count=20000,30000,2",
                 "-o", folder.file("s.sweep"), "--threads", "1", "--format", "json"},
                {.memory_mb = 195});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const std::vector<Data> points = Data(document)["points"].items();
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1]["status"].text(), "failed");
  EXPECT_THAT(points[1]["message"].text(), HasSubstr("out of memory"));
  EXPECT_EQ(points[2]["status"].text(), "done");
}

TEST(Sweep, FailsIfNoPointHasAResult) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"sweep", scenario("01_two_ranks"), "--over",
                               "strategy.algorithm=nonsense,absurd", "-o", folder.file("s.sweep")});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("points without a result: 2"));
  EXPECT_THAT(o.err, HasSubstr("no point of the sweep has a result; "));
  EXPECT_THAT(o.err, HasSubstr("there is no algorithm \"nonsense\""));
}

TEST(Sweep, OptionsOfAPlotNeedAPlot) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  for (const char* const option : {"--cost", "--x", "--by"})
    expect_refused({"sweep", file, "--over", "run.seed=1,2", option, "step_time"}, folder,
                   {.code = ProblemCode::kUnused, .field = option});
}

TEST(Sweep, SaysIfStepsProcessDifferentNumbersOfSamples) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const auto out = [&](const std::string& over) {
    return run_tutti({"sweep", file, "--over", over, "--set", "cluster.network.kind=ONE_SWITCH"},
                     {.folder = folder.path()})
        .out;
  };
  EXPECT_THAT(
      out("cluster.workers.count=1,2"),
      HasSubstr("note: cluster.workers.count varies, so the training steps of different points"));
  EXPECT_THAT(out("strategy.shards=1,2"), Not(HasSubstr("varies, so the training steps")));
}

TEST(Sweep, ReusesTheResultsOfAnEarlierSweep) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::string first = folder.file("first.sweep"), second = folder.file("second.sweep");
  const std::vector<std::string> sweep{"sweep", file, "--over"};
  ASSERT_EQ(
      run_tutti(test::with(sweep, {"strategy.shards=1, 2", "--over", "run.seed=1,2", "-o", first}))
          .status,
      0);
  const std::vector<std::string> larger{"run.seed=3,2,1", "--over", "strategy.shards=2,3,1"};
  const Outcome refused = run_tutti(
      test::with(sweep, {"run.seed=1,2", "--over", "strategy.shards=1,2,3", "-o", first}));
  EXPECT_EQ(refused.status, 2);
  const Outcome values = run_tutti(
      test::with(sweep, {"strategy.shards=1,2,3", "--over", "run.seed=1,2", "-o", first}));
  EXPECT_THAT(values.err, HasSubstr("--reuse " + first));
  const Outcome o =
      run_tutti(test::with(test::with(sweep, larger),
                           {"-o", second, "--reuse", first, "--csv", folder.file("second.csv")}));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("4 of 9 points are copied from " + first));
  const Outcome plain =
      run_tutti(test::with(test::with(sweep, larger),
                           {"-o", folder.file("plain.sweep"), "--csv", folder.file("plain.csv")}));
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(folder.read("second.csv"), folder.read("plain.csv"));
  const Outcome again =
      run_tutti(test::with(test::with(sweep, larger), {"-o", second, "--reuse", first}));
  EXPECT_THAT(again.err, HasSubstr("0 of 9 points are copied"));

  const auto expect = [&](const std::vector<std::string>& words, const char* why) {
    const Outcome wrong =
        run_tutti(test::with(words, {"-o", folder.file("other.sweep"), "--reuse", first}));
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr(why)) << wrong.err;
  };
  expect(test::with(test::with(sweep, larger), {"--set", "run.steps=5"}),
         "the --set options differ");
  std::filesystem::remove(folder.file("other.sweep"));
  expect(test::with(sweep, {"run.seed=1,2,3"}), "this sweep varies strategy.shards, run.seed");
}

TEST(Sweep, ChecksItsOutputsBeforeItBegins) {
  const TemporaryFolder folder;
  const std::string csv = folder.file("absent/x.csv");
  expect_refused({"sweep", scenario("01_two_ranks"), "--over", "run.seed=1,2", "--csv", csv},
                 folder, {.code = ProblemCode::kInvalid, .field = "--csv", .file = csv});
}

TEST(Sweep, MatchesASimulationOfEveryPoint) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const Outcome o =
      run_tutti({"sweep", file, "--over", "strategy.algorithm=ring,nccl,psgpu", "--over",
                 "strategy.shards=1,2", "--set", "strategy.launch_us=3", "--format", "json"},
                {.folder = folder.path()});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(folder.files(), ElementsAre("s.sweep", "s.textproto"));
  const core::Value document = test::parse_or_throw(o.out, "out");
  const std::vector<Data> points = Data(document)["points"].items();
  ASSERT_EQ(points.size(), 6u);
  for (const Data& point : points) {
    const Data set = point["set"];
    const Outcome one =
        run_tutti({"simulate", file, "--set", "strategy.launch_us=3", "--set",
                   "strategy.algorithm=" + set["strategy.algorithm"].text(), "--set",
                   "strategy.shards=" + set["strategy.shards"].text(), "--format", "json"});
    if (one.status != 0) {
      EXPECT_EQ(point["status"].text(), "refused");
      EXPECT_THAT(point["message"].text(), HasSubstr("strategy.shards="));
      continue;
    }
    const core::Value other = test::parse_or_throw(one.out, "out");
    EXPECT_EQ(point["step_time_us"].text(), Data(other)["step_time_us"].text());
    EXPECT_EQ(point["exposed_communication_us"].text(),
              Data(other)["exposed_communication_us"].text());
  }
}

TEST(Sweep, RecordsInvalidPointsAndContinues) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const Outcome o = run_tutti({"sweep", file, "--over", "workload.batch=1,0", "--over",
                               "strategy.algorithm=ring,rings", "--json", folder.file("o.json")},
                              {.folder = folder.path()});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, testing::ContainsRegex("points without a result: 3 .3 invalid, 0 failed"));
  const core::Value document = test::parse_or_throw(folder.read("o.json"), "o.json");
  std::vector<std::string> status;
  for (const Data& point : Data(document)["points"].items())
    status.push_back(point["status"].text());
  EXPECT_THAT(status, ElementsAre("done", "refused", "refused", "refused"));
  EXPECT_THAT(Data(document)["points"].items()[1]["message"].text(),
              testing::StartsWith("strategy.algorithm=rings: "));
}

TEST(Sweep, PrintsAndPlotsAnExistingFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const Outcome once =
      run_tutti({"sweep", file, "--over", "strategy.launch_us=1..1000*10", "-o", "r.db"},
                {.folder = folder.path()});
  ASSERT_EQ(once.status, 0) << once.err;
  const Outcome again = run_tutti({"sweep", "r.db", "--plot", "p.svg", "--cost", "communication"},
                                  {.folder = folder.path()});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.out, once.out);
  EXPECT_THAT(folder.read("p.svg"), AllOf(HasSubstr("<svg"), HasSubstr("strategy.launch_us")));
  expect_refused({"sweep", folder.file("r.db"), "--over", "strategy.shards=1"}, folder,
                 {ProblemCode::kConflict, "--over"});
  expect_refused({"sweep", folder.file("r.db"), "--measured", folder.file("m.csv")}, folder,
                 {ProblemCode::kUnused, "--measured"});
  for (const char* other : {"tune", "explain", "simulate"})
    expect_refused({other, folder.file("r.db")}, folder,
                   {.code = ProblemCode::kWrongType, .file = folder.file("r.db")});
  expect_refused({"sweep", folder.file("r.db"), "--plot", folder.file("p.gif")}, folder,
                 {ProblemCode::kUnknownName, "--plot"});
}

TEST(Sweep, RefusesATimeoutWithoutSeveralRanks) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::vector<std::string> request{"sweep", file, "--over", "strategy.shards=1,2",
                                         "--timeout-seconds"};
  const auto with = [&](const std::string& value) {
    std::vector<std::string> words = request;
    words.push_back(value);
    return words;
  };
  expect_refused(with("5"), folder, {ProblemCode::kUnused, "--timeout-seconds"});
  expect_refused(with("0"), folder, {ProblemCode::kTooSmall, "--timeout-seconds"});
}

TEST(Sweep, ReportsQuartilesOverSeedsInsteadOfTheBestSeed) {
  const TemporaryFolder folder;
  const std::vector<std::string> request{
      "sweep",  test::scenario("10_noise"),  "--over", "run.seed=1..5+1",
      "--over", "strategy.launch_us=0,1000", "-o",     folder.file("s.sweep")};
  const Outcome o = run_tutti(test::with(request, {"--json", folder.file("o.json")}));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("step time over the seeds, the best of 2 settings"),
                           testing::ContainsRegex("median +q1 +q3 +min +max"),
                           Not(HasSubstr("the best of 10 points"))));
  EXPECT_THAT(o.out, Not(testing::ContainsRegex("run.seed +[1-5] "))) << "no effect of the seed";
  const core::Value document = test::parse_or_throw(folder.read("o.json"), "o.json");
  const auto groups = Data(document)["over_seeds"].items();
  ASSERT_EQ(groups.size(), 2u);
  for (const Data& group : groups) {
    std::vector<double> times;
    for (const Data& point : Data(document)["points"].items()) {
      if (point["set"]["strategy.launch_us"].text() == group["set"]["strategy.launch_us"].text())
        times.push_back(point["step_time_us"].real());
    }
    std::sort(times.begin(), times.end());
    ASSERT_EQ(times.size(), 5u);
    EXPECT_EQ(group["seeds"].number(), 5);
    // The quartiles of five numbers are numbers of the sample.
    EXPECT_EQ(group["min_us"].real(), times[0]);
    EXPECT_EQ(group["lower_quartile_us"].real(), times[1]);
    EXPECT_EQ(group["median_us"].real(), times[2]);
    EXPECT_EQ(group["upper_quartile_us"].real(), times[3]);
    EXPECT_EQ(group["max_us"].real(), times[4]);
    EXPECT_LT(times[0], times[4]) << "the scenario is noisy";
  }
}

TEST(Sweep, ComparesStrategiesWithTheirOwnSettings) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"sweep", test::scenario("05_resnet50_pscpu"), "--over",
                               "strategy=nccl,ring,pscpu", "--csv", "o.csv"},
                              {.folder = folder.path()});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.err,
              HasSubstr("note: strategy=nccl is simulated without shards of the scenario: "));
  const std::string csv = folder.read("o.csv");
  for (const char* row : {"0,nccl,,done", "1,ring,2,done", "2,pscpu,2,done"})
    EXPECT_THAT(csv, HasSubstr(row));
  // The same command continues the sweep.
  EXPECT_EQ(run_tutti({"sweep", test::scenario("05_resnet50_pscpu"), "--over",
                       "strategy=nccl,ring,pscpu"},
                      {.folder = folder.path()})
                .out,
            o.out);
}

TEST(Sweep, ReportsTheOriginOfStrategies) {
  const TemporaryFolder folder;
  const std::string table = folder.write(
      "p.csv", "strategy.algorithm,strategy.bytes_per_pack\nnccl,1048576\nring,4194304\n");
  // A table of points shows its fields, and an axis of strategies shows one column.
  const Outcome points =
      run_tutti({"sweep", test::scenario("01_two_ranks"), "--points", table, "-o", "p.sweep"},
                {.folder = folder.path()});
  ASSERT_EQ(points.status, 0) << points.err;
  EXPECT_THAT(points.out, testing::ContainsRegex("strategy.algorithm +strategy.bytes_per_pack"));
  EXPECT_THAT(points.out, HasSubstr("4 MiB"));
  const std::vector<std::string> request{"sweep",  test::scenario("05_resnet50_pscpu"),
                                         "--over", "strategy=nccl,pscpu",
                                         "--over", "strategy.shards=1,2",
                                         "-o",     "s.sweep"};
  const Outcome strategies = run_tutti(request, {.folder = folder.path()});
  ASSERT_EQ(strategies.status, 0) << strategies.err;
  EXPECT_THAT(strategies.out, AllOf(HasSubstr("pscpu, shards=2"), HasSubstr("packs  strategy\n")));
  // The file contains the origin.
  EXPECT_EQ(run_tutti({"sweep", "s.sweep"}, {.folder = folder.path()}).out, strategies.out);
  const Outcome plot = run_tutti({"sweep", "s.sweep", "--plot", "o.svg", "--x", "strategy"},
                                 {.folder = folder.path()});
  ASSERT_EQ(plot.status, 0) << plot.err;
  EXPECT_THAT(folder.read("o.svg"), HasSubstr("pscpu, shards=2</text>"));
}

TEST(Sweep, EveryStrategyHasItsOwnPoint) {
  const TemporaryFolder folder;
  const auto best = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"sweep",  test::scenario("05_resnet50_pscpu"),
                                   "--over", "strategy=nccl,pscpu",
                                   "--over", "strategy.shards=2,4",
                                   "-o",     folder.file(std::to_string(more.size()) + ".sweep")};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    return o.out;
  };
  EXPECT_THAT(best({}), testing::ContainsRegex("the best of 2 points(.|\n)* nccl\n"));
  EXPECT_THAT(best({"--over", "cluster.workers.count=2,4"}),
              testing::ContainsRegex("the best of 5 points(.|\n)* pscpu, shards=4 +4\n"));
}

TEST(Sweep, ChecksARequestBeforeSettingsAreTried) {
  const TemporaryFolder folder;
  const std::vector<std::string> request{"sweep",  test::scenario("05_resnet50_pscpu"),
                                         "--over", "strategy=nccl,pscpu",
                                         "--over", "strategy.launch_us=1..120+1"};
  const std::string plot = folder.file("a.svg");
  const auto untried = [&](const std::vector<std::string>& more, const test::Mistake& mistake) {
    expect_refused(test::with(request, more), folder, mistake);
    EXPECT_THAT(run_tutti(test::with(request, more), {.folder = folder.path()}).err,
                Not(HasSubstr("note: strategy")));
  };
  untried({"--plot", plot, "--x", "strategi"}, {ProblemCode::kUnknownName, "--x"});
  untried({"--over", "workload.batch=1..2000+1"}, {ProblemCode::kTooLarge, "--over"});
  untried({"--over", "strategy.algorithm=ring"}, {ProblemCode::kConflict, "--over"});
}

TEST(Sweep, ANarrowTerminalShowsTheSettings) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"sweep", test::scenario("10_noise"), "--over", "run.seed=1..4+1",
                               "--over", "strategy.shards=1,2", "--over",
                               "strategy.bytes_per_pack=1MiB,4MiB", "--set", "run.steps=2"},
                              {.folder = folder.path(), .environment = {{"COLUMNS", "80"}}});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(testing::ContainsRegex("seeds +median +q1 .* +strategy.shards"),
                           testing::ContainsRegex("\n +4 .* 1 +4 MiB\n"),
                           HasSubstr("bytes_per_pack\n"), HasSubstr("--verbose also show: ")));
  EXPECT_THAT(o.out, Not(testing::ContainsRegex("also show: [^\n]*strategy")));
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line) && !line.starts_with("effect");)
    EXPECT_TRUE(line.size() <= 80 || line.starts_with("/")) << line;
}

TEST(Sweep, AsksBeforeASweepOfVeryManyPoints) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::vector<std::string> request{"sweep", file, "--over", "strategy.launch_us=1..200001+1"};
  expect_refused(request, folder, {ProblemCode::kTooLarge, "--over"});
  EXPECT_THAT(run_tutti(request, {.folder = folder.path()}).err,
              AllOf(HasSubstr("200,001 points"), HasSubstr("--yes")));
  test::Process confirmed(test::with(request, {"-o", folder.file("a.sweep"), "--yes"}));
  for (int i = 0; i < 6000 && folder.files().size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  confirmed.signal(SIGKILL);
  confirmed.wait();
  EXPECT_THAT(folder.files(), Contains("a.sweep"));
}

TEST(Sweep, RefusesInvalidRequests) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::string other = folder.write(
      "o.sweep",
      "not empty, and no database, whatever its name may be; long enough to be looked at. "
      "A header of a database has a hundred bytes.");
  expect_refused({"sweep", file}, folder, {ProblemCode::kMissing, "--over"});
  // A missing file is reported before mistakes in other arguments.
  expect_refused({"sweep", "none.textproto", "--over", "no.field=1"}, folder,
                 {.code = ProblemCode::kMissing, .file = "none.textproto"});
  for (const char* over : {"strategy=rings", "strategy="})
    EXPECT_EQ(run_tutti({"sweep", file, "--over", over}, {.folder = folder.path()}).status, 2);
  expect_refused({"sweep", file, "--over", "strategy.shard=1,2"}, folder,
                 {ProblemCode::kUnknownField, "--over"});
  expect_refused({"sweep", file, "--over", "strategy.shards=1,2", "-o", other}, folder,
                 {.code = ProblemCode::kWrongType, .file = other});
  expect_refused({"sweep", file, "--over", "strategy.shards=1,2", "-o", file}, folder,
                 {ProblemCode::kConflict, "-o"});
  expect_refused({"sweep", file, "--over", "strategy.shards=1,2", "--threads", "-1"}, folder,
                 {ProblemCode::kTooSmall, "--threads"});
  expect_refused({"sweep", file, "--over", "strategy.shards=1,2", "-o", folder.file("x.sweep"),
                  "--csv", folder.file("x"), "--json", folder.file("./x")},
                 folder, {ProblemCode::kConflict, "--json"});
  expect_refused({"sweep", file, "--over", "strategy.shards=1,2", "-o", folder.file("no/x.sweep")},
                 folder, {.file = folder.file("no/x.sweep")});
  // A plot that is impossible is rejected before anything is simulated.
  const Outcome drawn =
      run_tutti({"sweep", file, "--over", "strategy.shards=1,2", "-o", folder.file("x.sweep"),
                 "--plot", folder.file("x.svg"), "--cost", "price", "--format", "json"});
  EXPECT_EQ(drawn.status, 2);
  const core::Expected<void> refused = tl::make_unexpected(test::error_in(drawn.out));
  EXPECT_THAT(refused, test::FailsWith(test::Mistake{ProblemCode::kUnknownName, "--cost"}));
  EXPECT_THAT(drawn.err, Not(HasSubstr("results:")));
}

TEST(Sweep, RefusesToResumeASweepOfAnotherScenario) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  ASSERT_EQ(
      run_tutti({"sweep", file, "--over", "strategy.shards=1,2"}, {.folder = folder.path()}).status,
      0);
  expect_refused({"sweep", file, "--over", "strategy.shards=1,2,3", "-o", "s.sweep"}, folder,
                 {.code = ProblemCode::kConflict, .field = "--over", .file = "s.sweep"});
}

TEST(Sweep, OfOtherValuesIsWrittenToTheNextDefaultFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const auto results_of = [&](const std::string& values) {
    const auto swept = run_tutti({"sweep", file, "--over", "strategy.shards=" + values},
                                 {.folder = folder.path()});
    EXPECT_EQ(swept.status, 0) << swept.err;
    return swept.err.substr(0, swept.err.find('\n'));
  };
  EXPECT_EQ(results_of("1,2"), "results: s.sweep");
  EXPECT_EQ(results_of("1,2,3"), "results: s-2.sweep");
  EXPECT_EQ(results_of("1,2"), "results: s.sweep");
  // A large sweep is confirmed although the file of the default name exists.
  expect_refused({"sweep", file, "--over", "run.seed=1..2000000+1"}, folder,
                 {.code = ProblemCode::kTooLarge, .field = "--over"});
}

/// The window's program draws the picture. A build may lack this program.
TEST(Sweep, DrawsPngPlotsIfTheWindowIsBuilt) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const Outcome o =
      run_tutti({"sweep", file, "--over", "strategy.launch_us=1..1000*10", "--plot", "p.png"},
                {.folder = folder.path(), .environment = {{"DISPLAY", ":nowhere"}}});
  const std::string program = test::tutti_program() + "-view";
  if (!std::filesystem::exists(program)) {
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, AllOf(HasSubstr("--plot"), HasSubstr("tutti-view")));
    EXPECT_THAT(folder.files(), ElementsAre("s.textproto")) << "before anything is simulated";
    return;
  }
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(folder.files(), ElementsAre("p.png", "s.sweep", "s.textproto"));
  EXPECT_TRUE(folder.read("p.png").starts_with("\x89PNG\r\n"));
}

TEST(Sweep, ReportsExtrapolationsOfItsBestPoints) {
  const TemporaryFolder folder;
  const Outcome o =
      run_tutti({"sweep", test::scenario("04_resnet50_ring"), "--over", "workload.batch=128,16"},
                {.folder = folder.path()});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, testing::ContainsRegex("note: .* batch size 128 .* 16.* 1 of the 2 points"));
}

TEST(Sweep, NotesAreThoseOfTheListedSettings) {
  const TemporaryFolder folder;
  // The two best settings have four points, of which two are extrapolated.
  const Outcome o = run_tutti({"sweep", test::scenario("04_resnet50_ring"), "--over",
                               "workload.batch=128,16", "--over", "run.seed=1,2", "--rows", "2"},
                              {.folder = folder.path()});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, testing::ContainsRegex("note: .* batch size 128 .* 16.* 2 of the 4 points"));
}

}  // namespace
}  // namespace tutti
