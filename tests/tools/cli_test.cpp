// The command as its users meet it: a program with arguments, files, messages and an exit status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/clusters.h"
#include "tests/support/json.h"
#include "tests/support/program.h"

namespace tutti {
namespace {

using test::Data;
using test::Outcome;
using test::run_tutti;
using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

constexpr const char* kSmall = R"(
cluster { workers { machine: "dgx1-v100" } }
workload {
  variable { name: "a" shape: [1000, 1000] }
  variable { name: "b" shape: 77 }
}
strategy { algorithm: "ring" bytes_per_pack: 0 }
)";

std::string scenario(const std::string& name) { return test::source_folder() + "/scenarios/" + name + ".textproto"; }

/// The request is refused: status 2, why on stderr, nothing on stdout, no file more than there was.
void expect_refused(const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                    const testing::Matcher<std::string>& why) {
  const std::vector<std::string> before = folder.files();
  const Outcome o = run_tutti(arguments, {.folder = folder.path()});
  EXPECT_EQ(o.status, 2) << o.out;
  EXPECT_THAT(o.err, why);
  EXPECT_THAT(o.out, IsEmpty());
  EXPECT_EQ(folder.files(), before);
}

// --- help ---

TEST(Help, IsThereForEveryCommandWithExamples) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--help"}, {"simulate", "--help"}, {"plan", "--help"}, {"export", "--help"}, {"init", "--help"}}) {
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0);
    EXPECT_THAT(o.out, AllOf(HasSubstr("Usage: "), HasSubstr("Examples:\n  tutti ")));
    EXPECT_THAT(o.err, IsEmpty());
  }
}

TEST(Help, ExamplesOfShippedScenariosRun) {
  for (const char* command : {"simulate", "plan"}) {
    const std::string help = run_tutti({command, "--help"}).out;
    std::istringstream lines(help.substr(help.find("Examples:")));
    int ran = 0;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream in(line);
      std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
      if (words.size() < 3 || words[0] != "tutti" || !words[2].starts_with("scenarios/")) continue;
      words.erase(words.begin());
      EXPECT_EQ(run_tutti(words, {.folder = test::source_folder()}).status, 0) << line;
      ++ran;
    }
    EXPECT_GE(ran, 1) << command;
  }
}

TEST(Help, TellsTheVersion) { EXPECT_THAT(run_tutti({"--version"}).out, StartsWith("tutti 0.")); }

TEST(Help, WrongWordsAreRefused) {
  const TemporaryFolder folder;
  expect_refused({}, folder, HasSubstr("subcommand is required"));
  expect_refused({"simulat"}, folder, HasSubstr("--help"));
  expect_refused({"simulate"}, folder, HasSubstr("scenario is required"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--fast"}, folder, HasSubstr("--fast"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--format", "yaml"}, folder,
                 HasSubstr("--format yaml: expected one of text, json"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--record", "all"}, folder,
                 HasSubstr("--record all: expected one of none, packs, steps"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--network-model", "exact"}, folder,
                 HasSubstr("expected one of fifo, ideal"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--workers", "3-1"}, folder,
                 HasSubstr("--workers 3-1: expected a worker or a range"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--workers", "0-"}, folder,
                 HasSubstr("--workers 0-: expected"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--steps", "0"}, folder, HasSubstr("--steps 0: expected 1 to"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--steps", "1e99"}, folder, HasSubstr("--steps"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--from-us", "nan"}, folder, HasSubstr("--from-us"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--from-us", "9", "--to-us", "3"}, folder,
                 HasSubstr("--to-us is before --from-us"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--max-spans", "-1"}, folder, HasSubstr("--max-spans"));
  for (const auto& option : std::vector<std::vector<std::string>>{
           {"--record", "packs"}, {"--workers", "0-1"}, {"--from-us", "1"}, {"--to-us", "2"}, {"--max-spans", "10"}}) {
    expect_refused({"simulate", scenario("01_two_ranks"), option[0], option[1]}, folder,
                   HasSubstr(option[0] + " limits what --timeline records; give --timeline FILE"));
  }
  expect_refused({"plan", scenario("01_two_ranks"), "--pack", "1"}, folder,
                 HasSubstr("--pack 1: there are packs 0 to 0"));
  expect_refused({"export", "x", "--to", "pdf"}, folder, HasSubstr("--to pdf: expected one of perfetto, csv, svg"));
  expect_refused({"export", "x", "--to", "csv", "--table", "rows"}, folder, HasSubstr("--table rows: expected one of"));
  expect_refused({"init", "--nodes", "0"}, folder, HasSubstr("--nodes 0: expected 1 or more"));
}

// --- simulate ---

TEST(Simulate, SaysWhomEveryoneWaitedFor) {
  const Outcome text = run_tutti({"simulate", scenario("08_straggler")});
  EXPECT_THAT(text.out, HasSubstr("for the last to have its gradients: w1/gpu3 in 3 of 3 steps"));
  EXPECT_THAT(text.out, HasSubstr("note: w1/gpu3 takes 1.3333 times as long"));
  const core::Value document =
      test::parse_or_throw(run_tutti({"simulate", scenario("08_straggler"), "--format", "json"}).out, "out");
  const Data json(document);
  EXPECT_EQ(json["awaited"].text(), "w1/gpu3");
  EXPECT_GT(json["awaited_for_us"].real(), 35'000);
  EXPECT_THAT(run_tutti({"simulate", scenario("06_resnet50_nccl")}).out, Not(HasSubstr("others waited")))
      << "no news where all are alike";
}

TEST(Simulate, ADeadLinkFailsTheRunAndKeepsTheStepsBefore) {
  const TemporaryFolder folder;
  std::ifstream shipped(scenario("08_straggler"));
  std::string text{std::istreambuf_iterator<char>(shipped), {}};
  const std::string share = "bandwidth_share: 0.1";
  text.replace(text.find(share), share.size(), "bandwidth_share: 0");
  const std::string dead = folder.write("dead.textproto", text);
  for (const char* model : {"fifo", "fair"}) {
    const Outcome o = run_tutti({"simulate", dead, "--network-model", model, "--timeline", folder.file("dead.tutti")});
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.err, HasSubstr("step 2 never ends: link w0/nic2→network is dead from 300 ms on"));
    EXPECT_THAT(o.err, HasSubstr("2 of 4 steps"));
    EXPECT_THAT(run_tutti({"export", folder.file("dead.tutti"), "--to", "csv", "--table", "steps", "-o", "-"}).out,
                HasSubstr("awaited,awaited_for_us"));
  }
}

TEST(RunForReal, RefusesConditionsWhichItCouldNotKeep) {
  const TemporaryFolder folder;
  expect_refused({"run", scenario("08_straggler")}, folder,
                 HasSubstr("conditions are simulated only: a real run meets its own; leave them out"));
}

TEST(Simulate, AnswersInJson) {
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
  EXPECT_NEAR(json["forward_us"].real() + json["backward_us"].real() + json["other_compute_us"].real() +
                  json["exposed_communication_us"].real(),
              step, 1e-4);
}

// Noise makes each step unlike the others, so that a mean is no step's.
TEST(Simulate, AndCompareGiveAPartOfTheStepTheSameNumber) {
  const TemporaryFolder folder;
  const std::string file = folder.file("noise.tutti");
  const Outcome simulated =
      run_tutti({"simulate", scenario("10_noise"), "--format", "json", "--timeline", file, "--record", "none"});
  ASSERT_EQ(simulated.status, 0) << simulated.err;
  const core::Value of_one = test::parse_or_throw(simulated.out, "out");
  const core::Value of_two = test::parse_or_throw(run_tutti({"compare", file, file, "--format", "json"}).out, "out");
  const Data one(of_one), two(of_two);
  for (const char* part :
       {"step_time", "forward", "backward", "other_compute", "communication", "exposed_communication"})
    EXPECT_EQ(one[std::string(part) + "_us"].real(), two[part]["first_us"].real()) << part;
  EXPECT_NE(one["backward_us"].real(), one["steps"].items().back()["backward_us"].real());
  EXPECT_EQ(one["steady_basis"].text(), "mean of steps 1 to 9");
}

TEST(Simulate, SaysTheSameTwice) {
  const auto run = [] { return run_tutti({"simulate", scenario("05_resnet50_pscpu"), "--format", "json"}).out; };
  EXPECT_EQ(run(), run());
}

TEST(Simulate, OptionsOverrideTheScenario) {
  const Outcome o = run_tutti({"simulate", scenario("01_two_ranks"), "--steps", "4", "--seed", "9", "--network-model",
                               "ideal", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data json(document);
  EXPECT_EQ(json["steps"].items().size(), 4u);
  EXPECT_EQ(json["seed"].number(), 9);
  EXPECT_EQ(json["network_model"].text(), "ideal");
}

TEST(Simulate, ReadsJsonScenariosToo) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.json",
      R"({"cluster": {"workers": {"machine": "dgx1-v100"}}, "workload": {"variable": [{"name": "a", "shape": [3, 5]}]},
    "strategy": {"algorithm": "pscpu"}})");
  const Outcome o = run_tutti({"simulate", file});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("pscpu"));
}

TEST(Simulate, TellsAllProblemsAtOnceWithTheirPlaces) {
  const TemporaryFolder folder;
  const std::string file = folder.write("bad.textproto",
                                        "cluster { workers { machine: \"dgx1-v10\" } }\n"
                                        "workload { model: \"resnet\" bach: 3 }\n"
                                        "strategy { algorithm: \"ring\" shards: -1 }\n"
                                        "run { compute_jitter_percent: nan }\n");
  expect_refused({"simulate", file, "--timeline", folder.file("t.tutti")}, folder,
                 AllOf(HasSubstr(file + ":1:30: "), HasSubstr("did you mean \"dgx1-v100\""),
                       HasSubstr(file + ":2:19: "), HasSubstr(file + ":2:28: "), HasSubstr("did you mean \"batch\""),
                       HasSubstr(file + ":3:38: "), HasSubstr(file + ":4:31: ")));
}

TEST(Simulate, FilesThatAreNoScenarioAreRefused) {
  const TemporaryFolder folder;
  expect_refused({"simulate", folder.file("absent")}, folder, HasSubstr("absent: cannot be read: No such file"));
  expect_refused({"simulate", folder.path()}, folder, HasSubstr("folder"));
  expect_refused({"simulate", folder.write("empty", "")}, folder, HasSubstr("empty"));
  expect_refused({"simulate", folder.write("binary", std::string("\x7f"
                                                                 "ELF\0\1\2",
                                                                 7))},
                 folder, HasSubstr("binary:1:1: "));
  expect_refused({"simulate", folder.write("open.json", "{\"cluster\": {")}, folder, HasSubstr("open.json:1:"));
}

TEST(Simulate, TakesNothingButUtf8) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", "name: \"caf\xe9\"" + std::string(kSmall));
  expect_refused({"simulate", file}, folder, HasSubstr("s.textproto:1:11: the byte 0xe9 here is not UTF-8"));
  expect_refused({"simulate", folder.write("e.textproto", R"(name: "\xff")" + std::string(kSmall))}, folder,
                 HasSubstr("e.textproto:1:7: the escapes in here make up no UTF-8"));
  // Without a name in it a scenario is called by its file's.
  for (const char* command : {"simulate", "plan"})
    expect_refused({command, folder.write("\xff.textproto", kSmall)}, folder,
                   HasSubstr("the name of this file is not in UTF-8"));
  expect_refused({"init", "--machine", "\xff"}, folder, HasSubstr("not UTF-8"));
  const Outcome o = run_tutti({"simulate", folder.write("b.textproto", "\xEF\xBB\xBF" + std::string(kSmall))});
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST(Simulate, LosesNoFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  expect_refused({"simulate", file, "--timeline", file}, folder, HasSubstr("this is the file to read from"));
  expect_refused({"simulate", file, "--timeline", folder.path()}, folder, HasSubstr("this is a folder"));
  expect_refused({"simulate", file, "--timeline", folder.file("no/such/folder.tutti")}, folder,
                 HasSubstr("cannot be written: No such file"));
  EXPECT_EQ(folder.read("s.textproto"), kSmall);
  const std::string model = folder.write("my_model.csv", "name,shape,type\na,3,\n");
  expect_refused({"simulate", file, "--timeline", model}, folder,
                 HasSubstr("my_model.csv: this file exists and is something else"));
  EXPECT_EQ(folder.read("my_model.csv"), "name,shape,type\na,3,\n");
  const std::string left_over = folder.write("t.tutti.part", "all that is left");
  for (const char* before : {"", "TUTTITL1"}) {
    const std::string timeline = folder.write("t.tutti", before);
    EXPECT_EQ(run_tutti({"simulate", file, "--timeline", timeline}).status, 0) << "timelines and empty files go";
  }
  EXPECT_EQ(folder.read("t.tutti.part"), "all that is left");
  EXPECT_THAT(folder.files(), ElementsAre("my_model.csv", "s.textproto", "t.tutti", "t.tutti.part"));
}

TEST(Simulate, WritesToDevicesAsTheyAre) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  EXPECT_EQ(run_tutti({"simulate", file, "--timeline", "/dev/null"}).status, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Outcome full = run_tutti({"simulate", file, "--timeline", "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("/dev/full: cannot be written: No space left on device"));
  EXPECT_EQ(full.out, run_tutti({"simulate", file}).out) << "what was computed is not lost with the timeline";
  const Outcome out = run_tutti({"simulate", file}, {.out_file = "/dev/full"});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("cannot write to standard output: No space left on device"));
}

TEST(Simulate, ReadsAScenarioFromAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe) << kSmall; });
  const Outcome o = run_tutti({"simulate", pipe});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("step time"));
}

TEST(Timelines, AreNotReadFromPipes) {
  // Nobody writes to it: whoever opened it would wait for ever.
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe.tutti"), file = folder.write("s.textproto", kSmall);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"compare", pipe, pipe}, {"export", pipe, "--to", "csv", "-o", "-"}, {"calibrate", file, "--run", pipe}}) {
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 2) << words.front();
    EXPECT_THAT(o.err, HasSubstr("pipe.tutti: this is a pipe; name a timeline in a file")) << words.front();
  }
}

TEST(Simulate, StopsWhenItsTimelineCanNoLongerBeWritten) {
  const Outcome o =
      run_tutti({"simulate", scenario("05_resnet50_pscpu"), "--steps", "100000", "--timeline", "/dev/full"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("note: stopped by request after "));
  EXPECT_THAT(o.err, AllOf(HasSubstr("the run was stopped because its timeline can no longer be written"),
                           EndsWith("/dev/full: cannot be written: No space left on device\n")));
}

TEST(Simulate, EndsQuietlyWhenNobodyReadsOn) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::string timeline = folder.file("t.tutti");
  const Outcome o = run_tutti({"simulate", file, "--timeline", timeline}, {.out_closed = true});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, AllOf(StartsWith("timeline: "), Not(HasSubstr("standard output"))));
  EXPECT_THAT(folder.files(), ElementsAre("s.textproto", "t.tutti")) << "the timeline is whole";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"plan", file}, {"init"}, {"init", "--list"}, {"export", timeline, "--to", "csv", "-o", "-"}}) {
    const Outcome quiet = run_tutti(words, {.out_closed = true});
    EXPECT_EQ(quiet.status, 1) << words[0];
    EXPECT_THAT(quiet.err, IsEmpty());
  }
}

TEST(Simulate, SaysThatMemoryIsOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more memory than this, and end the program themselves";
#endif
  const TemporaryFolder folder;
  const std::string file = folder.file("s.textproto");
  ASSERT_EQ(run_tutti({"init", "--machine", "cpu-host", "--nodes", "5000000", "-o", file}).status, 0);
  const Outcome o = run_tutti({"simulate", file, "--timeline", folder.file("t.tutti")}, {.memory_mb = 200});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.err, "tutti: out of memory; take fewer workers, steps or recorded spans\n");
  EXPECT_THAT(folder.files(), ElementsAre("s.textproto"));
}

TEST(Simulate, FollowsLinksToTheTimeline) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  fs::create_symlink("real.tutti", folder.file("link.tutti"));
  EXPECT_EQ(run_tutti({"simulate", file, "--timeline", folder.file("link.tutti")}).status, 0);
  EXPECT_TRUE(fs::is_symlink(folder.file("link.tutti")));
  EXPECT_THAT(folder.read("real.tutti"), StartsWith("TUTTI"));
}

TEST(Simulate, InterruptedItLeavesAWholeTimelineOfWhatRan) {
  const TemporaryFolder folder;
  const std::string timeline = folder.file("t.tutti");
  const Outcome o = run_tutti({"simulate", scenario("05_resnet50_pscpu"), "--steps", "100000", "--timeline", timeline},
                              {.interrupt_once = timeline + ".part"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("note: stopped by request after "));
  ASSERT_THAT(folder.files(), ElementsAre("t.tutti"));
  const Outcome read = run_tutti({"export", timeline, "--to", "csv", "--table", "steps", "-o", "-"});
  EXPECT_EQ(read.status, 0);
  EXPECT_THAT(read.err, IsEmpty()) << "the file is complete";
}

// --- plan ---

TEST(Plan, ShowsWhatTravelsTogether) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  EXPECT_THAT(run_tutti({"plan", file}).out, AllOf(HasSubstr("1 pack of 2 gradients"), HasSubstr("b, a")));
  const core::Value document = test::parse_or_throw(run_tutti({"plan", file, "--format", "json"}).out, "out");
  const auto gradients = Data(document)["packs"].items()[0]["gradients"].items();
  EXPECT_EQ(gradients[0]["name"].text(), "b");
  EXPECT_EQ(gradients[1]["offset_in_pack"].number(), 80)
      << "ScopedAllocator begins every tensor on a multiple of 64 bytes";
}

TEST(Plan, PrintsAndProvesSchedules) {
  const Outcome o = run_tutti({"plan", scenario("01_two_ranks"), "--schedule", "--check"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("steps of pack 0 (250000 elements):"), HasSubstr("gpu0"),
                           HasSubstr("every one of 2 replicas ends with every contribution exactly once")));
  for (const char* name : {"02_eight_hosts_ring", "03_merge_scope", "04_resnet50_ring", "06_resnet50_nccl"}) {
    EXPECT_EQ(run_tutti({"plan", scenario(name), "--check"}).status, 0) << name;
  }
}

TEST(Plan, PrintsNoMoreStepsThanAnyoneReads) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.textproto");
  ASSERT_EQ(run_tutti({"init", "--nodes", "32", "-o", file}).status, 0);
  expect_refused({"plan", file, "--schedule"}, folder,
                 HasSubstr("steps on 256 ranks, more than the 20000 that are printed"));
}

TEST(Plan, SaysThatAScheduleIsTooLargeToProve) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.textproto");
  for (const char* nodes : {"4000", "40000"}) {
    ASSERT_EQ(run_tutti({"init", "--machine", "cpu-host", "--nodes", nodes, "-o", file, "--force"}).status, 0);
    expect_refused({"plan", file, "--check"}, folder,
                   AllOf(HasSubstr("--check: the schedule of pack 0 is too large to prove"),
                         HasSubstr(nodes + std::string(" ranks")), HasSubstr("take fewer workers")));
  }
}

// --- export ---

class Export : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_tutti({"simulate", folder.write("s.textproto", kSmall), "--timeline", timeline}).status, 0);
  }
  TemporaryFolder folder;
  std::string timeline = folder.file("t.tutti");
};

TEST_F(Export, WritesBesideTheTimeline) {
  for (const char* form : {"perfetto", "csv", "svg"})
    EXPECT_EQ(run_tutti({"export", timeline, "--to", form}).status, 0);
  EXPECT_THAT(folder.files(), ElementsAre("s.textproto", "t.perfetto-trace", "t.spans.csv", "t.svg", "t.tutti"));
  EXPECT_THAT(folder.read("t.svg"), AllOf(StartsWith("<svg"), EndsWith("</svg>\n")));
}

TEST_F(Export, AnswersInJson) {
  const Outcome o = run_tutti({"export", timeline, "--to", "svg", "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("\"complete\": true"));
  EXPECT_THAT(o.out, HasSubstr("\"written\": "));
}

TEST_F(Export, WritesEveryTable) {
  for (const char* table : {"spans", "packs", "steps", "links", "path"}) {
    const Outcome o = run_tutti({"export", timeline, "--to", "csv", "--table", table, "-o", "-"});
    EXPECT_EQ(o.status, 0);
    std::istringstream lines(o.out);
    std::string heading, line;
    std::getline(lines, heading);
    EXPECT_THAT(heading, HasSubstr(",")) << table;
    int rows = 0;
    while (std::getline(lines, line)) ++rows;
    EXPECT_GT(rows, 0) << table;
  }
}

TEST_F(Export, LosesNoFile) {
  expect_refused({"export", timeline, "--to", "csv", "-o", timeline}, folder,
                 HasSubstr("this is the file to read from"));
  expect_refused({"export", folder.file("s.textproto"), "--to", "svg"}, folder, HasSubstr("this is not a timeline"));
  expect_refused({"export", folder.file("absent.tutti"), "--to", "svg"}, folder,
                 HasSubstr("cannot be read: No such file"));
  EXPECT_EQ(run_tutti({"export", timeline, "--to", "svg", "-o", "/dev/full"}).status, 1);
}

TEST_F(Export, ReadsWhatACrashLeftAndKeepsIt) {
  const std::string whole = folder.read("t.tutti");
  const std::string left_over = folder.write("lost.svg.part", whole.substr(0, whole.size() - 100));
  EXPECT_EQ(run_tutti({"export", left_over, "--to", "svg", "-o", folder.file("lost.svg")}).status, 0);
  EXPECT_EQ(folder.read("lost.svg.part").size(), whole.size() - 100);
  EXPECT_THAT(folder.read("lost.svg"), EndsWith("</svg>\n"));
  EXPECT_THAT(folder.files(), ElementsAre("lost.svg", "lost.svg.part", "s.textproto", "t.tutti"));
}

TEST_F(Export, InterruptedItLeavesNothing) {
  const std::string large = folder.file("large.tutti");
  ASSERT_EQ(run_tutti({"simulate", scenario("05_resnet50_pscpu"), "--timeline", large}).status, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string trace = folder.file("large.perfetto-trace");
    const Outcome o =
        run_tutti({"export", large, "--to", "perfetto"}, {.interrupt_once = trace + ".part", .signal = number});
    if (o.status == 0) continue;  // it was faster than the signal
    EXPECT_EQ(o.status, 128 + number);
    EXPECT_THAT(folder.files(), ElementsAre("large.tutti", "s.textproto", "t.tutti"));
  }
}

TEST_F(Export, ReadsACutOffTimelineAsFarAsItGoes) {
  const std::string whole = folder.read("t.tutti");
  const std::string cut = folder.write("cut.tutti", whole.substr(0, whole.size() - 100));
  const Outcome o = run_tutti({"export", cut, "--to", "csv", "-o", "-"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.err, AllOf(HasSubstr("the file ends before its index"), HasSubstr("; what could be read is exported")));
  EXPECT_EQ(o.out, run_tutti({"export", timeline, "--to", "csv", "-o", "-"}).out) << "only the index was cut off";
}

// --- init ---

// --- compare ---

TEST_F(Export, ATimelineDiffersFromItselfInNothing) {
  const Outcome o = run_tutti({"compare", timeline, timeline, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data comparison(document);
  EXPECT_EQ(comparison["step_time"]["difference_us"].real(), 0);
  EXPECT_GT(comparison["packs"].items().size(), 0u);
  for (const Data& pack : comparison["packs"].items()) EXPECT_EQ(pack["took"]["difference_us"].real(), 0);
  for (const Data& kind : comparison["steps"].items()) EXPECT_EQ(kind["mean_error_us"].real(), 0);
}

TEST(Compare, SaysWhatAnotherStrategyCosts) {
  const TemporaryFolder folder;
  for (const std::string packs : {"0", "26214400"}) {
    const std::string scenario = folder.write("s" + packs + ".textproto",
                                              "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: "
                                              "ONE_SWITCH latency_us: 1.5 } } workload { model: "
                                              "\"resnet50_torchvision\" layer_times: \"resnet50_torchvision_v100\" "
                                              "batch: 32 } strategy { algorithm: \"ring\" "
                                              "bytes_per_pack: " +
                                                  packs + " }");
    ASSERT_EQ(
        run_tutti({"simulate", scenario, "--timeline", folder.file(packs + ".tutti"), "--record", "packs"}).status, 0);
  }
  const Outcome o = run_tutti({"compare", folder.file("26214400.tutti"), folder.file("0.tutti")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("most of that lies in the exposed communication, which takes"));
  EXPECT_THAT(o.out, HasSubstr("4 packs of the first and 1 of the second hold other gradients and are not compared"));
}

TEST(Compare, AndExportTakeWhatIsWholeAndSayInOneLineWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole.tutti");
  ASSERT_EQ(run_tutti({"simulate", scenario("06_resnet50_nccl"), "--timeline", whole}).status, 0);
  std::ifstream stream(whole, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  bytes.replace(bytes.size() / 2, 20, std::string(20, '\xff'));
  const std::string damaged = folder.write("damaged.tutti", bytes);
  const auto says = [](const std::string& what) {
    return testing::MatchesRegex(
        ".*damaged.tutti: the file is damaged at byte [0-9]+: [0-9]+ of its [0-9]+ spans are missing, of "
        "w[01]/gpu[0-7], between .* and .*; what could be read is " +
        what + "\n");
  };
  const Outcome exported = run_tutti({"export", damaged, "--to", "csv", "-o", "-"});
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.err, says("exported"));
  EXPECT_GT(std::count(exported.out.begin(), exported.out.end(), '\n'), 1000);
  const Outcome compared = run_tutti({"compare", whole, damaged});
  EXPECT_EQ(compared.status, 0);
  EXPECT_THAT(compared.err, says("compared"));
}

TEST(Compare, RefusesWhatIsNoTimeline) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"compare", folder.write("a", "x"), folder.file("b")});
  EXPECT_EQ(o.status, 2);
}

// --- perf ---

TEST(Perf, ItsTimesAreThoseOfTheAllReduceAlone) {
  // 01: by hand 2 (latency + half the bytes / 10 GB/s) + half the bytes / 100 GB/s; busbw is algbw for two ranks.
  const Outcome o = run_tutti({"perf", scenario("01_two_ranks"), "-b", "1M", "-e", "4M", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const std::vector<Data> rows = Data(document)["rows"].items();
  ASSERT_EQ(rows.size(), 3u);
  for (const Data& row : rows) {
    const double half = row["bytes"].real() / 2;
    const Data in_place = row["in_place"];
    EXPECT_NEAR(in_place["time_us"].real(), 2 * (2 + half / 10e3) + half / 100e3, 1e-5);
    EXPECT_NEAR(in_place["algbw_gb_per_s"].real(), row["bytes"].real() / in_place["time_us"].real() / 1e3, 1e-9);
    EXPECT_NEAR(in_place["busbw_gb_per_s"].real(), in_place["algbw_gb_per_s"].real(), 1e-9);
    EXPECT_EQ(row["out_of_place"]["time_us"].real(), in_place["time_us"].real()) << "nothing more is moved by a ring";
  }
}

TEST(Perf, RunsForRealAndHasTheColumnsOfNcclTests) {
  const Outcome o = run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "-b", "4", "-e", "4K", "-f",
                               "32", "-n", "2", "-w", "1"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("run over tcp"));
  const Outcome shm = run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "--transport", "shm",
                                 "-b", "1K", "-e", "1K", "-n", "30", "-w", "0"});
  ASSERT_EQ(shm.status, 0) << shm.err;
  EXPECT_THAT(shm.out, HasSubstr("run over shared memory"));
  EXPECT_THAT(o.out, testing::ContainsRegex("size +count +type +redop +root +time +algbw +busbw +#wrong"));
  EXPECT_THAT(o.out, testing::ContainsRegex("4096 +1024 +float +sum +-1 .* 0\n"));
}

TEST(Perf, ReducesByEveryOperationOfNcclTests) {
  for (const std::string op : {"sum", "prod", "max", "min", "avg"}) {
    for (const std::string type : {"float32", "int32", "float16"}) {
      const Outcome o = run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "-b", "1K", "-e", "1K",
                                   "--place", "in", "-n", "1", "-w", "0", "-o", op, "--type", type});
      ASSERT_EQ(o.status, 0) << op << " " << type << ": " << o.err;
      EXPECT_THAT(o.out, testing::ContainsRegex("1024 +[0-9]+ +[a-z0-9]+ +" + op + " +-1 ")) << type;
    }
  }
  // What it costs to divide is all that an operation changes in the model; on GPUs that is a pass over memory.
  const auto time = [](const std::string& op) {
    const Outcome o =
        run_tutti({"perf", scenario("06_resnet50_nccl"), "-b", "1M", "-e", "1M", "-o", op, "--format", "json"});
    const core::Value document = test::parse_or_throw(o.out, "out");
    EXPECT_EQ(Data(document)["redop"].text(), op);
    return Data(document)["rows"].items().at(0)["in_place"]["time_us"].real();
  };
  EXPECT_EQ(time("sum"), time("max"));
  EXPECT_LT(time("sum"), time("avg"));
}

/// What follows from nccl-tests' GetCollByteCount and GetBw: sizes of 8 ranks from 1000 bytes on, doubled.
struct OfNcclTests {
  const char* collective;
  const char* algorithm;
  double busbw;        ///< over algbw
  std::int64_t bytes;  ///< that 1000 become
  std::int64_t count;
  const char* columns;  ///< redop and root
  bool in_place = true;
};
constexpr OfNcclTests kOfNcclTests[] = {{"all_reduce", "ring", 1.75, 1000, 250, "sum +-1"},
                                        {"reduce_scatter", "ring", 0.875, 896, 28, "sum +-1"},
                                        {"all_gather", "recursive_doubling", 0.875, 896, 28, "none +-1"},
                                        {"broadcast", "ring", 1, 1000, 250, "none +5"},
                                        {"reduce", "halving_doubling", 1, 1000, 250, "sum +5"},
                                        {"alltoall", "pscpu", 0.875, 896, 28, "none +-1", false},
                                        {"gather", "halving_doubling", 0.875, 896, 28, "none +5"},
                                        {"scatter", "pscpu", 0.875, 896, 28, "none +5"},
                                        {"sendrecv", "ring", 1, 1000, 250, "sum +-1", false}};

std::string eight_hosts(const std::string& algorithm) {
  return "cluster { workers { machine: \"cpu-host\" count: 8 } network { kind: ONE_SWITCH latency_us: 1 } }\n"
         "workload { variable { name: \"a\" shape: 8 } } strategy { algorithm: \"" +
         algorithm + "\" }\n";
}

TEST(Perf, HasEveryCollectiveOfNcclTestsWithItsSizesAndFactors) {
  const TemporaryFolder folder;
  for (const OfNcclTests& c : kOfNcclTests) {
    const std::string file = folder.write("s.textproto", eight_hosts(c.algorithm));
    std::vector<std::string> words{"perf", file, "--collective", c.collective, "-b", "1000", "-e", "1M", "-f", "8"};
    if (std::string(c.columns).ends_with('5')) words.insert(words.end(), {"-r", "5"});
    const Outcome text = run_tutti(words);
    ASSERT_EQ(text.status, 0) << c.collective << text.err;
    const std::string na = c.in_place ? "" : " +N/A +N/A +N/A +N/A\n";
    EXPECT_THAT(text.out, testing::ContainsRegex(std::to_string(c.bytes) + " +" + std::to_string(c.count) +
                                                 " +float +" + c.columns + " +[0-9.]+ +[0-9.]+ +[0-9.]+ +N/A" + na));
    words.insert(words.end(), {"--format", "json"});
    const Outcome json = run_tutti(words);
    ASSERT_EQ(json.status, 0) << c.collective << json.err;
    const core::Value document = test::parse_or_throw(json.out, "out");
    const std::vector<Data> rows = Data(document)["rows"].items();
    ASSERT_EQ(rows.size(), 4u);
    for (const char* half : {"out_of_place", "in_place"}) {
      if (half == std::string("in_place") && !c.in_place) continue;
      const Data time = rows.back()[half];
      EXPECT_NEAR(time["busbw_gb_per_s"].real() / time["algbw_gb_per_s"].real(), c.busbw, 1e-9) << c.collective;
    }
  }
}

TEST(Perf, RunsEveryCollectiveForRealAndComparesIt) {
  const TemporaryFolder folder;
  for (const OfNcclTests& c : kOfNcclTests) {
    const std::string file = folder.write("s.textproto", eight_hosts(c.algorithm));
    std::vector<std::string> words{"perf", file,   "--backend",   "tcp",  "--collective", c.collective,
                                   "-b",   "1000", "-e",          "1000", "-n",           "20",
                                   "-w",   "0",    "--transport", "shm"};
    if (std::string(c.columns).ends_with('5')) words.insert(words.end(), {"-r", "5"});
    const Outcome ran = run_tutti(words);
    ASSERT_EQ(ran.status, 0) << c.collective << ran.err;
    EXPECT_THAT(ran.out, testing::ContainsRegex(c.in_place ? " 0 .* 0\n# Out of bounds values : 0 OK"
                                                           : " 0 +N/A +N/A +N/A +N/A\n# Out of bounds"));
  }
}

TEST(Perf, MeasuresTheHalvesThatItIsAskedFor) {
  const auto table = [](const char* place) {
    return run_tutti({"perf", scenario("02_eight_hosts_ring"), "-b", "1K", "-e", "1K", "--place", place}).out;
  };
  EXPECT_THAT(table("both"), AllOf(HasSubstr("out-of-place"), HasSubstr(" in-place")));
  EXPECT_THAT(table("in"), AllOf(testing::Not(HasSubstr("out-of-place")), HasSubstr(" in-place")));
  EXPECT_THAT(table("out"), AllOf(HasSubstr("out-of-place"), testing::Not(HasSubstr(" in-place"))));
}

TEST(Perf, NotesOfTheRunAreInTextAndJson) {
  for (const char* format : {"text", "json"}) {
    const Outcome o = run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "-b", "1K", "-e", "2K",
                                 "-n", "1", "--format", format});
    ASSERT_EQ(o.status, 0) << o.err;
    const std::string note = "every element of one iteration before and one after those that were timed was compared";
    const std::size_t first = o.out.find(note);
    ASSERT_NE(first, std::string::npos) << o.out;
    EXPECT_EQ(o.out.find(note, first + 1), std::string::npos) << "once";
  }
}

TEST(Perf, RefusesWhatIsNoSize) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"-b", "x"},
                                             {"-b", "8", "-e", "4"},
                                             {"-e", "1T"},
                                             {"-f", "1"},
                                             {"--backend", "nccl"},
                                             {"-n", "5"},
                                             {"--transport", "shm"},
                                             {"--backend", "tcp", "--transport", "x"},
                                             {"--backend", "tcp", "-n", "0"},
                                             {"--listen", "127.0.0.1:4711"},
                                             {"--launcher", "none"},
                                             {"--rendezvous", "/tmp"},
                                             {"--secret-file", "/dev/null"},
                                             {"--wait-seconds", "1"},
                                             {"--timeout-seconds", "1"},
                                             {"--backend", "tcp", "--timeout-seconds", "0"},
                                             {"--op", "mean"},
                                             {"--type", "f"},
                                             {"--collective", "allreduce"},
                                             {"--collective", "alltoall"},  // by a ring
                                             {"--collective", "all_gather", "-o", "max"},
                                             {"--collective", "all_gather", "-b", "1", "-e", "31"},
                                             {"--collective", "sendrecv", "--place", "in"},
                                             {"--collective", "broadcast", "-r", "2"},
                                             {"--collective", "broadcast", "-r", "-1"},
                                             {"-r", "0"},
                                             {"--place", "elsewhere"}}) {
    std::vector<std::string> arguments{"perf", scenario("01_two_ranks")};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    EXPECT_EQ(run_tutti(arguments).status, 2) << bad.front();
  }
}

// --- init ---

TEST(Init, WritesAScenarioThatRuns) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_tutti({"init", "--model", "vgg16_torchvision", "--machine", "dgx-a100", "--nodes", "3", "--algorithm",
                       "ring", "-o", folder.file("s.textproto")})
                .status,
            0);
  const Outcome o = run_tutti({"simulate", folder.file("s.textproto")});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("3 × dgx-a100, 24 GPUs"));
}

TEST(Init, AnswersInJson) {
  const TemporaryFolder folder;
  EXPECT_THAT(run_tutti({"init", "--list", "--format", "json"}).out, HasSubstr("\"hgx-h100\""));
  const Outcome o = run_tutti({"init", "-o", folder.file("s.textproto"), "--format", "json"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, HasSubstr("\"written\": \"" + folder.file("s.textproto")));
  EXPECT_EQ(run_tutti({"init", "--format", "yaml"}).status, 2);
}

TEST(Init, TakesMeasuredTimesOnlyForTheDeviceTheyWereMeasuredOn) {
  EXPECT_THAT(run_tutti({"init", "--machine", "dgx1-v100"}).out, HasSubstr("resnet50_torchvision_v100"));
  EXPECT_THAT(run_tutti({"init", "--machine", "hgx-h100"}).out, testing::Not(HasSubstr("layer_times")));
  EXPECT_THAT(run_tutti({"init", "--machine", "cpu-host"}).out, testing::Not(HasSubstr("layer_times")));
}

TEST(Init, WorksForEveryShippedModelMachineAndAlgorithm) {
  const std::string listed = run_tutti({"init", "--list"}).out;
  std::istringstream lines(listed);
  std::map<std::string, int> counts;
  std::string section;
  const std::map<std::string, std::string> options{
      {"machines:", "--machine"}, {"links:", "--link"}, {"models:", "--model"}, {"algorithms:", "--algorithm"}};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      section = line;
      continue;
    }
    ++counts[section];
    if (!options.contains(section)) continue;
    std::vector<std::string> words{"init", options.at(section), line.substr(2)};
    if (section == "models:") words.insert(words.end(), {"--machine", "hgx-h100"});  // has a rate for every type
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << line << ": " << o.err;
  }
  EXPECT_EQ(counts["models:"], 35);
  EXPECT_EQ(counts["machines:"], 19);
  EXPECT_EQ(counts["links:"], 15);
}

TEST(Init, WorksForEveryNetworkOfAnySize) {
  for (const char* const network : {"one_switch", "rails", "fat_tree", "dragonfly"}) {
    for (const char* const nodes : {"2", "17", "300"}) {
      for (const bool link : {false, true}) {
        std::vector<std::string> words{"init", "--network", network, "--nodes", nodes};
        if (link) words.insert(words.end(), {"--link", "ndr"});
        const Outcome o = run_tutti(words);
        EXPECT_EQ(o.status, 0) << network << " of " << nodes << ": " << o.err;
        EXPECT_EQ(o.out.find("link: \"ndr\"") != std::string::npos, link);
      }
    }
  }
}

TEST(Init, OverwritesOnlyWhenTold) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mine", "precious");
  expect_refused({"init", "-o", file}, folder, HasSubstr("this file exists; --force overwrites it"));
  EXPECT_EQ(folder.read("mine"), "precious");
  EXPECT_EQ(run_tutti({"init", "-o", file, "--force"}).status, 0);
  EXPECT_THAT(folder.read("mine"), HasSubstr("cluster {"));
}

TEST(Init, NeverOverwritesWhatItReads) {
  const TemporaryFolder folder;
  const std::string model = folder.write("model.csv", "name,shape,type,backward_flops,forward_flops\na,3,,1,1\n");
  expect_refused({"init", "--model", model, "-o", model, "--force"}, folder,
                 HasSubstr("this is the file to read from"));
  EXPECT_THAT(folder.read("model.csv"), StartsWith("name,"));
}

TEST(Init, RefusesWhatWouldNotRun) {
  const TemporaryFolder folder;
  expect_refused({"init", "--model", "resnet5", "-o", "x"}, folder,
                 AllOf(HasSubstr("resnet5"), HasSubstr("did you mean")));
  expect_refused({"init", "--algorithm", "rings", "-o", "x"}, folder, HasSubstr("did you mean \"ring\""));
  expect_refused({"init", "--machine", "a\" b", "-o", "x"}, folder, Not(IsEmpty()));
  expect_refused({"init", "--link", "edrr", "-o", "x"}, folder, HasSubstr("did you mean \"edr\""));
  expect_refused({"init", "--network", "ring", "-o", "x"}, folder, HasSubstr("there are one_switch, rails"));
  expect_refused({"init", "--nodes", "1", "--link", "edr", "-o", "x"}, folder, HasSubstr("take more nodes"));
}

}  // namespace
}  // namespace tutti
