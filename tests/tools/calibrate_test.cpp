// The command `tutti calibrate`: from timelines and logs to a cluster file, the file's use in other
// commands, its reports and notes, and measurements that are rejected.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/clusters.h"
#include "tests/support/json.h"
#include "tests/support/program.h"
#include "tests/tools/command_line.h"

namespace tutti::test {
namespace {

std::string scenario(double latency_us, double card_gb_per_s, int workers = 3,
                     const std::string& name = "m", const std::string& more = "") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"{2}\" count: {3} }} network {{ kind: ONE_SWITCH "
      "latency_us: {0} }} machine {{ "
      "name: \"{2}\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 90 }} nic {{ name: "
      "\"nic0\" "
      "bandwidth_gb_per_s: {1} }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE "
      "bandwidth_gb_per_s: 50 latency_us: "
      "0.1 "
      "}} }} }}\n"
      "workload {{ variable {{ name: \"a\" shape: 30000 }} variable {{ name: \"b\" shape: 4000000 "
      "}} backward_ms: 5 "
      "update_ms: 0 }}\nstrategy {{ algorithm: \"ring\" {4} }}\n",
      latency_us, card_gb_per_s, name, workers, more);
}

/// A scenario to start from, and measurements on a cluster with different parameters.
struct Measured {
  TemporaryFolder folder;
  std::string start = folder.write("start.textproto", scenario(2, 10));
  std::string truth = folder.write("truth.textproto", scenario(20, 2));
  std::string log =
      folder.write("perf.txt", run_tutti({"perf", truth, "-b", "1K", "-e", "64M", "-f", "4"}).out);
  std::string timeline = folder.file("truth.tutti");

  Measured() { EXPECT_EQ(run_tutti({"simulate", truth, "--timeline", timeline}).status, 0); }

  [[nodiscard]] Outcome calibrate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"calibrate", start});
    return run_tutti(arguments, {.folder = folder.path()});
  }

  void expect_refused(std::vector<std::string> arguments, const Mistake& mistake) const {
    arguments.insert(arguments.begin(), {"calibrate", start});
    arguments.insert(arguments.end(), {"-o", folder.file("out.textproto")});
    test::expect_refused(arguments, folder, mistake);
  }
};

/// Returns the number of notes in the command's report.
std::size_t notes(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  const core::Value document = parse_or_throw(run_tutti(words).out, "out");
  return Data(document)["notes"].items().size();
}

double figure(const std::string& json, const std::string& name, const std::string& field) {
  const core::Value document = parse_or_throw(json, "out");
  for (const Data& f : Data(document)["figures"].items()) {
    if (f["name"].text() == name) return f[field].real();
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

TEST(Calibrate, TheFittedClusterPredictsTheTimesOfTheLog) {
  const Measured m;
  const Outcome o = m.calibrate({"--log", m.log, "-o", "mine.textproto"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("\nnetwork.latency "), HasSubstr("95 %"),
                           HasSubstr("cluster { file: \"mine.textproto\" }")));
  const std::string file = m.folder.read("mine.textproto");
  EXPECT_THAT(file,
              AllOf(StartsWith("# "), HasSubstr("perf.txt"), HasSubstr("tutti calibrate 0.")));
  // The file states the sizes in the log and the number of workers. Other sizes are extrapolated.
  EXPECT_THAT(file, AllOf(HasSubstr("least_bytes: 1024"), HasSubstr("most_bytes: 67108864"),
                          HasSubstr("workers: 3")));
  // Uses the line that the output suggests in a scenario.
  const std::string text = scenario(2, 10);
  const std::string rest = text.substr(text.find("workload"));
  const std::string mine =
      m.folder.write("with.textproto", "cluster { file: \"mine.textproto\" }\n" + rest);
  const auto step = [](const std::string& path) {
    const core::Value document =
        parse_or_throw(run_tutti({"simulate", path, "--format", "json"}).out, "out");
    return Data(document)["step_time_us"].real();
  };
  EXPECT_NEAR(step(mine) / step(m.truth), 1, 0.01);
  EXPECT_GT(std::abs(step(m.start) / step(m.truth) - 1), 0.05)
      << "there was something to calibrate";
  // A pack that is larger than the sizes in the log is extrapolated.
  EXPECT_EQ(notes({"simulate", mine, "--set", "workload.variable[1].shape=40000000"}), 1u);
  EXPECT_EQ(notes({"simulate", mine}), 0u);
}

TEST(Calibrate, SaysIfTheFitDoesNotDescribeTheMeasurements) {
  const Measured measured;
  EXPECT_THAT(measured.calibrate({"--log", measured.log}).out,
              Not(HasSubstr("does not describe the measurements")));
  // The times neither grow with the size nor stay constant.
  std::string log =
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (int i = 0; i < 6; ++i) {
    const std::int64_t bytes = std::int64_t{4096} << (2 * i);
    const double us = i % 2 == 0 ? 90'000 : 60;
    const double rate = static_cast<double>(bytes) / us / 1e3;
    log += fmt::format("{0} {1} float sum -1 {2} {3} {4} 0 {2} {3} {4} 0\n", bytes, bytes / 4, us,
                       rate, rate * 4 / 3);
  }
  const std::string scattered = measured.folder.write("scattered.txt", log);
  const Outcome o = measured.calibrate({"--log", scattered});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("the fitted cluster does not describe the measurements"));
}

TEST(Calibrate, TheLineForTheScenarioStartsFromItsFolder) {
  const Measured m;
  std::filesystem::create_directory(m.folder.path() + "/clusters");
  const Outcome o = m.calibrate({"--log", m.log, "-o", "clusters/mine.textproto"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("cluster { file: \"clusters/mine.textproto\" }"));
  std::filesystem::create_directory(m.folder.path() + "/elsewhere");
  const Outcome e = run_tutti(
      {"calibrate", m.start, "--log", m.log, "-o", m.folder.file("elsewhere/mine.textproto")});
  EXPECT_THAT(e.out, HasSubstr("cluster { file: \"elsewhere/mine.textproto\" }"));
}

TEST(Calibrate, PrintsJson) {
  const Measured m;
  const Outcome o = m.calibrate({"--log", m.log, "--run", m.timeline, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NEAR(figure(o.out, "network.latency", "fitted"), 20, 0.5);
  EXPECT_NEAR(figure(o.out, "network.bandwidth", "fitted"), 2, 0.05);
  EXPECT_LT(figure(o.out, "network.bandwidth", "low"), 2.01);
  EXPECT_GT(figure(o.out, "network.bandwidth", "high"), 1.99);
  EXPECT_EQ(figure(o.out, "network.bandwidth", "before"), 10);
  const core::Value document = parse_or_throw(o.out, "out");
  const Data json(document);
  EXPECT_EQ(json["times"].items().size(), 11u)
      << "nine sizes, in and out of place together, and two packs";
  EXPECT_EQ(json["steps"].items().size(), 1u);
  std::map<std::string, std::string> determination;
  for (const Data& f : json["figures"].items())
    determination[f["name"].text()] = f["determination"].text();
  EXPECT_EQ(determination["network.bandwidth"], "determined");
  EXPECT_EQ(determination["pcie.bandwidth"], "insensitive");
  EXPECT_EQ(determination["cpu.reduce"], "confounded");
  EXPECT_GT(json["error_before"]["median"].real(), 0.5);
  EXPECT_LT(json["error_after"]["worst"].real(), 0.02);
}

TEST(Calibrate, ReadsLogsInBothNotations) {
  const Measured m;
  const std::string json = m.folder.write(
      "perf.json",
      run_tutti({"perf", m.truth, "-b", "1K", "-e", "64M", "-f", "4", "--format", "json"}).out);
  const Outcome o = m.calibrate({"--log", json, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NEAR(figure(o.out, "network.latency", "fitted"), 20, 0.2);
}

TEST(Calibrate, AcceptsRunsOfOtherWorkloadsOnTheSameCluster) {
  const Measured m;
  std::string text = scenario(20, 2);
  text.replace(text.find("shape: 30000"), 12, "shape: 77777");
  text.replace(text.find("\"ring\""), 6, "\"pscpu\"");
  const std::string other = m.folder.write("other.textproto", text);
  ASSERT_EQ(run_tutti({"simulate", other, "--timeline", m.folder.file("o.tutti")}).status, 0);
  const Outcome o =
      m.calibrate({"--run", m.timeline, m.folder.file("o.tutti"), "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NEAR(figure(o.out, "network.bandwidth", "fitted"), 2, 0.05);
}

TEST(Calibrate, CanStartFromAFileThatItWrote) {
  const Measured m;
  ASSERT_EQ(m.calibrate({"--log", m.log, "-o", "mine.textproto"}).status, 0);
  const std::string text = scenario(2, 10);
  const std::string mine =
      m.folder.write("with.textproto",
                     "cluster { file: \"mine.textproto\" }\n" + text.substr(text.find("workload")));
  const Outcome o = run_tutti({"calibrate", mine, "--log", m.log, "--run", m.timeline, "--format",
                               "json", "-o", m.folder.file("again.textproto")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NEAR(
      figure(o.out, "network.latency", "fitted") / figure(o.out, "network.latency", "before"), 1,
      0.02);
  // The command replaces its own file, but no file of another kind.
  EXPECT_EQ(m.calibrate({"--log", m.log, "-o", "mine.textproto"}).status, 0);
  expect_refused({"calibrate", m.start, "--log", m.log, "-o", m.truth}, m.folder,
                 {.code = ProblemCode::kConflict, .file = m.truth});
}

TEST(Calibrate, WrongRequestsAreRefused) {
  const Measured m;
  m.expect_refused({}, {ProblemCode::kMissing, "--run"});
  const Outcome xml = m.calibrate({"--log", m.log, "--format", "xml"});
  EXPECT_EQ(xml.status, 2);
  EXPECT_THAT(xml.err, HasSubstr("--format xml"));
  m.expect_refused({"--log", m.log, "--rows", "-1"}, {ProblemCode::kTooSmall, "--rows"});
  m.expect_refused({"--log", m.log, "--keep", "nvlink"}, {ProblemCode::kUnknownName, "--keep"});
  m.expect_refused({"--log", m.folder.file("absent")},
                   {.code = ProblemCode::kMissing, .file = m.folder.file("absent")});
  m.expect_refused({"--run", m.folder.file("absent")},
                   {.code = ProblemCode::kMissing, .file = m.folder.file("absent")});
  m.expect_refused({"--run", m.log}, {.code = ProblemCode::kWrongType, .file = m.log});
  m.expect_refused({"--log", m.timeline}, {ProblemCode::kMissing, "", 0, 0, m.timeline});
}

TEST(Calibrate, RefusesLogsOfOtherCollectives) {
  const Measured m;
  const std::string four = m.folder.write("four.textproto", scenario(20, 2, 4));
  const std::string log =
      m.folder.write("four.txt", run_tutti({"perf", four, "-b", "1K", "-e", "1M"}).out);
  m.expect_refused({"--log", log}, {ProblemCode::kConflict, "ranks", 4, 11, log});
  const std::string titles = "# size count type redop root time algbw busbw #wrong\n";
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 1048576 float sum -1 1000 4.19 2.80 0\n")},
      {ProblemCode::kConflict, "busbw", 2, 1, m.folder.file("x")});
  // A row without a reduction in a table of all-reduces.
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 1048576 float sum -1 1000 4.19 5.59 0\n"
                                             "4194304 1048576 float none 0 1000 4.19 4.19 0\n")},
      {ProblemCode::kConflict, "redop", 3, 1, m.folder.file("x")});
  // Rows without a reduction: a factor of no collective on 3 ranks, and a root that does not exist.
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 1048576 float none 0 1000 4.19 5.59 0\n")},
      {ProblemCode::kConflict, "busbw", 2, 1, m.folder.file("x")});
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 1048576 float none 3 1000 4.19 4.19 0\n")},
      {ProblemCode::kTooLarge, "root", 2, 1, m.folder.file("x")});
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 4194304 uint8 sum -1 1000 4.19 5.59 0\n")},
      {ProblemCode::kUnsupported, "type", 2, 1, m.folder.file("x")});
  m.expect_refused({"--log", m.folder.write("x", titles + "4194304 1048576 float sum -1 1000\n")},
                   {ProblemCode::kMissing, "out-of-place time", 2, 30, m.folder.file("x")});
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 1048576 float sum -1 1000 4.19 5.59 0\n")},
      {ProblemCode::kMissing});
}

TEST(Calibrate, ATableWithARootAndWithoutAReductionIsOfBroadcasts) {
  const Measured m;
  const std::string log =
      run_tutti({"perf", m.truth, "--collective", "broadcast", "-b", "1K", "-e", "64M", "-f", "4"})
          .out;
  const std::string unnamed = m.folder.write("unnamed", log.substr(log.find('\n') + 1));
  const Outcome o = m.calibrate({"--log", unnamed, "-o", "mine.textproto"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("broadcast of 1024 bytes (float32)"));
  const std::string json = m.calibrate({"--log", unnamed, "--format", "json"}).out;
  EXPECT_NEAR(figure(json, "network.latency", "fitted"), 20, 0.4);
  // One row is too few to fit, as for all-reduces.
  const std::string titles = "# size count type redop root time algbw busbw #wrong\n";
  m.expect_refused(
      {"--log", m.folder.write("x", titles + "4194304 1048576 float none 0 1000 4.19 4.19 0\n")},
      {ProblemCode::kMissing});
}

TEST(Calibrate, TimelinesOfAnotherClusterAreRefused) {
  const Measured m;
  for (const std::string& other : {scenario(20, 2, 4), scenario(20, 2, 3, "other")}) {
    const std::string file = m.folder.write("other.textproto", other);
    ASSERT_EQ(run_tutti({"simulate", file, "--timeline", m.folder.file("o.tutti")}).status, 0);
    m.expect_refused({"--run", m.folder.file("o.tutti")},
                     {ProblemCode::kConflict, "Cluster", 0, 0, m.folder.file("o.tutti")});
  }
}

TEST(Calibrate, RefusesTruncatedTimelines) {
  const Measured m;
  const std::string whole = m.folder.read("truth.tutti");
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{5}, whole.size() / 3, whole.size() - 9}) {
    const std::string cut = m.folder.write("cut.tutti", whole.substr(0, length));
    m.expect_refused(
        {"--run", cut},
        {.code = length > 8 ? ProblemCode::kInvalid : ProblemCode::kWrongType, .file = cut});
  }
}

TEST(Calibrate, LaneStepsMustHaveBeenRecorded) {
  const Measured m;
  ASSERT_EQ(
      run_tutti({"simulate", m.truth, "--timeline", m.folder.file("p.tutti"), "--record", "packs"})
          .status,
      0);
  m.expect_refused({"--run", m.folder.file("p.tutti"), "--lane-steps"},
                   {ProblemCode::kMissing, "--lane-steps", 0, 0, m.folder.file("p.tutti")});
  const Outcome o = m.calibrate({"--run", m.timeline, "--lane-steps", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NEAR(figure(o.out, "network.bandwidth", "fitted"), 2, 0.05);
}

TEST(Calibrate, IgnoresTimesOfWrongResults) {
  const Measured m;
  std::string log = m.folder.read("perf.txt");
  // The time of the last row is invented, and its results were wrong.
  log +=
      "     67108864      16777216     float     sum     -1  N/A N/A N/A N/A      9.000   7456.5   "
      "9942.0     12\n";
  const Outcome o = m.calibrate({"--log", m.folder.write("wrong.txt", log), "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NEAR(figure(o.out, "network.bandwidth", "fitted"), 2, 0.05);
  EXPECT_EQ(notes({"calibrate", m.start, "--log", m.folder.file("wrong.txt")}),
            notes({"calibrate", m.start, "--log", m.log}) + 1)
      << "a note states that it was left out";
}

/// Returns a scenario of four identical hosts at 1 Gb/s, except that the third one's card has the
/// bandwidth `third`.
std::string four_hosts(const std::string& third) {
  const auto machine = [](const std::string& name, const std::string& card) {
    return "machine { name: \"" + name +
           "\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 90 } nic { name: \"nic0\" "
           "bandwidth_gb_per_s: " +
           card +
           " } link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: "
           "0.5 } }\n";
  };
  return "cluster { workers { machine: \"m\" count: 2 } workers { machine: \"m of w2\" } workers { "
         "machine: \"m\" } "
         "network { kind: ONE_SWITCH latency_us: 50 }\n" +
         machine("m", "0.125") + machine("m of w2", third) +
         "}\nworkload { variable { name: \"a\" shape: 20000 } variable { name: \"b\" shape: 60000 "
         "} variable { name: "
         "\"c\" "
         "shape: 200000 } backward_ms: 60 update_ms: 0 }\nstrategy { algorithm: \"ring\" } run { "
         "steps: 3 }\n";
}

TEST(Calibrate, FindsANicAtHalfItsRateInAnEmulatedRun) {
  const TemporaryFolder folder;
  const std::string run = folder.file("run.tutti");
  const Outcome ran = run_tutti({"run", folder.write("truth.textproto", four_hosts("0.0625")),
                                 "--emulate", "--time-scale", "12", "--timeline", run});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Outcome o = run_tutti({"calibrate", folder.write("start.textproto", four_hosts("0.125")),
                               "--run", run, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const std::string slow = "network.bandwidth of w2/nic0";
  EXPECT_NEAR(figure(o.out, slow, "fitted"), 0.0625, 0.0625 * 0.1);
  EXPECT_LT(figure(o.out, slow, "low"), 0.0625 * 1.02);
  EXPECT_GT(figure(o.out, slow, "high"), 0.0625 * 0.98);
  EXPECT_NEAR(figure(o.out, "network.bandwidth", "fitted"), 0.125, 0.125 * 0.1) << "of the others";
}

/// Restricts this process, and the processes that it starts, to one core.
class OnOneCore {
 public:
  OnOneCore() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCore() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

TEST(Calibrate, ReportsNoSlowLinkWithMoreWorkersThanCores) {
  if (::access("/proc/thread-self/schedstat", R_OK) != 0)
    GTEST_SKIP() << "this kernel does not count waits for cores";
  const TemporaryFolder folder;
  const std::string scenario = folder.write("four.textproto", four_hosts("0.125"));
  const std::string run = folder.file("run.tutti");
  const OnOneCore one_core;
  const Outcome ran = run_tutti({"run", scenario, "--timeline", run, "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const core::Value document = parse_or_throw(ran.out, "out");
  for (const Data& step : Data(document)["steps"].items())
    EXPECT_GT(step["core_wait_us"].real(), 0);
  const Outcome o = run_tutti({"calibrate", scenario, "--run", run});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("note: in 3 of 3 steps"));
  EXPECT_THAT(o.out, Not(testing::ContainsRegex(" of w[0-9]/")));
}

TEST(Calibrate, ReportsNoGpuLinksWithoutGpus) {
  const TemporaryFolder folder;
  const std::string scenario =
      folder.write("gpus.textproto",
                   "cluster { workers { machine: \"dgx1-v100\" replicas: 4 } }\nworkload { "
                   "variable { name: \"a\" shape: 20000 } "
                   "variable { "
                   "name: \"b\" shape: 400000 } backward_ms: 20 }\nstrategy { algorithm: \"psgpu\" "
                   "shards: 4 } run { steps: 3 }\n");
  const std::string run = folder.file("run.tutti");
  ASSERT_EQ(run_tutti({"run", scenario, "--timeline", run}).status, 0);
  const Outcome o = run_tutti({"calibrate", scenario, "--run", run});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("no --backend cuda"));
  EXPECT_THAT(o.out, Not(HasSubstr(" of w0/")));
}

TEST(Calibrate, HelpNamesThePage) {
  const Outcome o = run_tutti({"calibrate", "--help"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, AllOf(HasSubstr("docs/calibration.md"), HasSubstr("--lane-steps")));
}

}  // namespace
}  // namespace tutti::test
