// Imports dumps of NCCL's example profiler, statuses of NCCL's RAS, logs of MLPerf, and profiles of
// TensorFlow, which were written for these tests after the descriptions of each format
// (tests/data/traces; profiles are made here).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/formats/wire.h"
#include "core/import/import.h"
#include "core/import/measurements_of_run.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/import/timeline_of_run.h"
#include "core/measured/nccl_tests.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"
#include "tests/core/import/imported.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/samples.h"

namespace tutti::core {
namespace {

using test::run_of_texts;
using test::sample;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

void expect_every_prefix_is_read_or_refused(const std::string& text, TraceFormat format,
                                            std::size_t step) {
  for (std::size_t length = 0; length < text.size(); length += step) {
    MeasuredRun run;
    const auto read = import_bytes(format, text.substr(0, length), "cut", run);
    if (read) continue;
    EXPECT_EQ(read.error().problems().front().where.file, "cut") << length;
    EXPECT_FALSE(read.error().problems().front().text.empty()) << length;
  }
}

// ------------------------------------------------------------------------------ profiler plugin

TEST(NcclProfiler, CollectivesHaveTheTimesOfTheGpuAndNcclsChoice) {
  const std::string first = sample("nccl_profiler_0.json"), second = sample("nccl_profiler_1.json");
  EXPECT_EQ(recognise(first), TraceFormat::kNcclProfiler);
  const MeasuredRun run = run_of_texts({first, second});
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.world_size, 2);
  ASSERT_EQ(run.groups.size(), 1u);
  EXPECT_EQ(run.groups[0].name, "11936139519573894301");
  EXPECT_EQ(run.groups[0].size, 2);
  ASSERT_EQ(run.ranks[0].collectives.size(), 3u);
  const MeasuredCollective& c = run.ranks[0].collectives[0];
  EXPECT_EQ(c.kind, MeasuredKind::kAllReduce);
  EXPECT_EQ(c.bytes, 262'144 * 4);
  EXPECT_EQ(c.algorithm, "ring");
  EXPECT_EQ(c.protocol, "simple");
  EXPECT_EQ(c.channels, 2);
  EXPECT_EQ(c.duration_ns, 90'500);  // the second channel starts 500 ns later
  // An all-gather counts the input of a rank.
  EXPECT_EQ(run.ranks[0].collectives[2].kind, MeasuredKind::kAllGather);
  EXPECT_EQ(run.ranks[0].collectives[2].bytes, 1000 * 2 * 2);
  EXPECT_EQ(run.ranks[0].collectives[2].duration_ns, 20'000);
  EXPECT_THAT(run.notes, Contains(HasSubstr("rank 0 waited longest for rank 1 (RecvWait: 2 waits, "
                                            "0.030 ms in total)")));
  EXPECT_EQ(RecordCounts::sum(run.counts.incomplete()), 0);
  EXPECT_EQ(RecordCounts::sum(run.counts.unknown()), 0);
}

TEST(NcclProfiler, TheRankThatStartsLastDoesNotWait) {
  const MeasuredRun run =
      run_of_texts({sample("nccl_profiler_0.json"), sample("nccl_profiler_1.json")});
  const auto log = measurements_of_run(run);
  ASSERT_TRUE(log);
  const auto tables = parse_nccl_tests(*log, "log").value();
  ASSERT_EQ(tables.size(), 2u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_EQ(tables[0].rows[0].out_of_place->us, 70.5);  // rank 1 starts 20 µs after rank 0
  EXPECT_EQ(tables[0].ranks, 2);
  std::ostringstream out;
  TimelineWriter writer(out);
  ASSERT_TRUE(write_timeline(run, step_model(run), "measured", writer));
  EXPECT_TRUE(TimelineReader::from_bytes(out.str(), "measured")->complete());
}

TEST(NcclProfiler, EventsWithoutAPartnerOrOfUnknownKindAreCounted) {
  const MeasuredRun run = run_of_texts({R"([
    {"name":"AllReduce","cat":"COLL","ph":"b","id":0,"ts":5.5,"args":{"CommHash":7,"Rank":0,"Count":4,"Datatype":"ncclFloat32"}},
    {"name":"RecvWait","cat":"NET","ph":"e","id":4,"ts":6},
    {"name":"x","cat":"NEW_KIND","ph":"b","id":1,"ts":7},
    {"name":"AllReduce","cat":"COLL","ph":"e","id":17,"ts":9.5},
    {"name":"y","cat":"PROXY","ph":"b","id":1,"ts":9},
    {}])"});
  EXPECT_EQ(run.counts.used().at("COLL"), 2);  // NVIDIA's documentation has ends of other ids
  EXPECT_EQ(run.counts.incomplete().at("NET without a begin"), 1);
  EXPECT_EQ(run.counts.incomplete().at("PROXY without an end"), 1);
  EXPECT_EQ(run.counts.unknown().at("NEW_KIND"), 1);
  EXPECT_THAT(run.notes, Contains(HasSubstr("NCCL_PROFILE_EVENT_MASK")));
  EXPECT_EQ(run.ranks[0].collectives[0].start_ns, -1);
}

/// Returns a dump of a process with one all-gather of 4 floats in a communicator.
std::string dump_of(int pid, int communicator, int rank) {
  const std::string process = R"("id":0,"pid":)" + std::to_string(pid);
  return R"([{"name":"AllGather","cat":"COLL","ph":"b",)" + process +
         R"(,"ts":5.5,"args":{"CommHash":)" + std::to_string(communicator) + R"(,"Rank":)" +
         std::to_string(rank) + R"(,"Count":4,"Datatype":"ncclFloat32"}},
         {"name":"AllGather","cat":"COLL","ph":"e",)" +
         process + R"(,"ts":9.5},{}])";
}

TEST(NcclProfiler, ProcessesWithTheSameRankInDifferentCommunicatorsAreDifferentGpus) {
  std::vector<std::string> dumps;
  for (int rank = 0; rank < 4; ++rank) dumps.push_back(dump_of(100 + rank, 7, rank));
  // Two communicators of two ranks: processes 100 and 102, and processes 101 and 103.
  for (int rank = 0; rank < 4; ++rank) dumps.push_back(dump_of(100 + rank, 8 + rank % 2, rank / 2));
  MeasuredRun run = run_of_texts(dumps);
  EXPECT_EQ(run.world_size, 4);
  ASSERT_EQ(run.ranks.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(run.ranks[rank].rank, rank);
    EXPECT_EQ(run.ranks[rank].pid, 100 + rank);
    ASSERT_EQ(run.ranks[rank].collectives.size(), 2u);
  }
  EXPECT_EQ(run.ranks[3].collectives[0].bytes, 4 * 4 * 4);
  EXPECT_EQ(run.ranks[3].collectives[1].bytes, 4 * 4 * 2);
  ASSERT_EQ(run.groups.size(), 3u);
  EXPECT_THAT(run.groups[2].ranks, ElementsAre(1, 3));
  // Without the communicator of all processes, the order of the processes is unknown.
  run = run_of_texts({dumps.begin() + 4, dumps.end()});
  ASSERT_EQ(run.ranks.size(), 4u);
  EXPECT_EQ(run.ranks[3].rank, 3);
  EXPECT_THAT(run.notes, Contains(HasSubstr("several processes of the same rank")));
}

/// In containers, every process has pid 1. The folders of the dumps tell the hosts apart.
TEST(NcclProfiler, ProcessesWithTheSamePidInDifferentFoldersAreDifferentGpus) {
  MeasuredRun run;
  for (int rank = 0; rank < 4; ++rank) {
    for (const auto& [communicator, number] :
         {std::pair(7, rank), std::pair(8 + rank % 2, rank / 2)}) {
      const std::string text = dump_of(1, communicator, number);
      const std::string name =
          "host" + std::to_string(rank) + "/dump" + std::to_string(communicator);
      ASSERT_TRUE(import_bytes(TraceFormat::kNcclProfiler, text, name, run));
    }
  }
  finish_import(run);
  ASSERT_EQ(run.ranks.size(), 4u);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(run.ranks[static_cast<std::size_t>(rank)].rank, rank);
    EXPECT_EQ(run.ranks[static_cast<std::size_t>(rank)].collectives.size(), 2u);
  }
}

TEST(NcclProfiler, ManyUnfinishedEventsAreCountedInLinearTime) {
  std::string text =
      R"([{"name":"AllReduce","cat":"COLL","ph":"b","id":0,"ts":5.5,"args":{"CommHash":7,"Rank":0}})";
  constexpr int kOpen = 100'000;
  for (int i = 0; i < kOpen; ++i)
    text += R"(,{"name":"y","cat":"PROXY","ph":"b","id":)" + std::to_string(i) +
            R"(,"ts":9,"args":{"Peer":1}})";
  // Each end has the id of the newest open event.
  for (int i = kOpen - 1; i >= kOpen - 50'000; --i)
    text += R"(,{"name":"y","cat":"PROXY","ph":"e","id":)" + std::to_string(i) + R"(,"ts":10})";
  const MeasuredRun run = run_of_texts({text + "]"});
  // The events that were dropped are counted, too.
  EXPECT_EQ(run.counts.incomplete().at("PROXY without an end"), kOpen - 50'000);
  EXPECT_EQ(run.counts.used().at("PROXY"), kOpen + 50'000);
}

TEST(NcclProfiler, RefusesDamagedAndForeignFilesWithTheErrorPosition) {
  MeasuredRun run;
  EXPECT_THAT(test::kinds_of(import_bytes(TraceFormat::kNcclProfiler, "{}", "f", run)),
              ElementsAre("wrong-type"));
  EXPECT_THAT(test::kinds_of(import_bytes(TraceFormat::kNcclProfiler, "[{}]", "f", run)),
              ElementsAre("missing cat"));
  expect_every_prefix_is_read_or_refused(sample("nccl_profiler_0.json"), TraceFormat::kNcclProfiler,
                                         7);
}

// ------------------------------------------------------------------------------ RAS

TEST(NcclRas, ShowsRanksThatAreMissingOrBehind) {
  const std::string text = sample("nccl_ras.json");
  EXPECT_EQ(recognise(text), TraceFormat::kNcclRas);
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.nccl_version, "2.28.9");
  EXPECT_EQ(run.world_size, 4);
  EXPECT_EQ(run.gpus_per_host, 2);
  ASSERT_EQ(run.groups.size(), 2u);
  EXPECT_EQ(run.groups[0].nodes, 2);
  EXPECT_THAT(run.notes, Contains("communicator 0xa1: rank 3 on node1 is behind: 9 calls of "
                                  "collectives, but other ranks made 11 (missing: 2 AllReduce)"));
  EXPECT_THAT(run.notes, Contains("communicator 0xb1: rank 1 on node1 (process 102, GPU 0) is "
                                  "missing: it does not respond"));
  EXPECT_THAT(run.notes, Contains(HasSubstr(
                             "1 communicator of 2 ranks on 2 hosts: a scenario describes this "
                             "communicator by communicator { name: \"…\" size: 2 stride: 2 … }")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("1 processes did not answer")));
  EXPECT_EQ(run.counts.used().at("rank"), 5);
}

TEST(NcclRas, ReadsTheTextOutputOfTheClient) {
  const std::string text = sample("nccl_ras.txt");
  EXPECT_EQ(recognise(text), TraceFormat::kNcclRas);
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.nccl_version, "2.24.3");
  EXPECT_EQ(run.world_size, 32);
  ASSERT_EQ(run.groups.size(), 2u);
  EXPECT_EQ(run.groups[1].size, 4);
  EXPECT_EQ(run.groups[1].nodes, 1);
  EXPECT_THAT(run.notes, Contains(HasSubstr("1 rank has launched up to operation 6649")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("8 communicators of 4 ranks on 1 host")));
}

TEST(NcclRas, RefusesDamagedAndForeignFilesWithTheErrorPosition) {
  MeasuredRun run;
  EXPECT_THAT(
      test::kinds_of(import_bytes(TraceFormat::kNcclRas, R"({"communicators": []})", "f", run)),
      ElementsAre("missing communicators"));
  EXPECT_THAT(
      test::kinds_of(import_bytes(TraceFormat::kNcclRas, "NCCL version 2.24.3\n", "f", run)),
      ElementsAre("missing Communicators"));
  expect_every_prefix_is_read_or_refused(sample("nccl_ras.json"), TraceFormat::kNcclRas, 5);
}

// ------------------------------------------------------------------------------ MLPerf

TEST(MlperfLog, ComputesStepTimesFromTheThroughput) {
  const std::string text = sample("mlperf.log");
  EXPECT_EQ(recognise(text), TraceFormat::kMlperf);
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.world_size, 16);  // 3200 samples in parts of 200
  EXPECT_EQ(run.gpus_per_host, 8);
  EXPECT_EQ(run.gpu, "Example Box");
  ASSERT_EQ(run.ranks.size(), 1u);
  ASSERT_EQ(run.ranks[0].steps.size(), 3u);
  EXPECT_EQ(run.ranks[0].steps[0].host_ns, 40'000'000);  // 3200 / 80,000 s
  EXPECT_EQ(run.ranks[0].steps[1].host_ns, 32'000'000);
  EXPECT_EQ(step_model(run).step_ns, 32'000'000);
  EXPECT_EQ(run.counts.used().at("tracked_stats"), 3);
  EXPECT_EQ(run.counts.ignored().at("line of other output"), 1);
}

TEST(MlperfLog, EpochsGiveTheThroughputOfLogsWithoutStatistics) {
  std::string text, line;
  for (std::istringstream in(sample("mlperf.log")); std::getline(in, line);) {
    if (line.find("tracked_stats") == std::string::npos) text += line + '\n';
  }
  const MeasuredRun run = run_of_texts({text});
  ASSERT_EQ(run.ranks[0].steps.size(), 3u);
  EXPECT_EQ(run.ranks[0].steps[0].host_ns, 40'000'000);
}

TEST(MlperfLog, LargeNumbersDoNotOverflow) {
  const auto line = [](const std::string& key, const std::string& value,
                       const std::string& more = "") {
    return ":::MLLOG {\"key\": \"" + key + "\", \"value\": " + value + more + "}\n";
  };
  // The product of the two numbers is 2^64.
  std::string text = line("global_batch_size", "900000") + line("d_batch_size", "4294967296") +
                     line("gradient_accumulation_steps", "4294967296");
  for (int step = 1; step <= 12; ++step)
    text += line("tracked_stats", "{\"throughput\": 1}",
                 ", \"metadata\": {\"step\": " + std::to_string(step) + "}");
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.world_size, -1);
  // A step takes 900,000 s, so the eleventh step ends after more than 9e15 ns.
  ASSERT_EQ(run.ranks[0].steps.size(), 10u);
  EXPECT_EQ(run.ranks[0].steps.back().end_ns, 9'000'000'000'000'000);
  EXPECT_EQ(run.counts.incomplete().at("interval after more than 100 days of training"), 2);
}

TEST(MlperfLog, RefusesDamagedAndIncompleteLogsWithTheErrorPosition) {
  const auto problem = [](const std::string& text) {
    MeasuredRun run;
    const auto read = import_bytes(TraceFormat::kMlperf, text, "f", run);
    EXPECT_FALSE(read);
    return read ? Problem() : read.error().problems().front();
  };
  EXPECT_EQ(problem("\n:::MLLOG {\"key\": ]\n").where, (Location{"f", 2, 18}));
  EXPECT_EQ(problem("hello\n").kind.code, ProblemCode::kMissing);
  EXPECT_EQ(problem(R"(:::MLLOG {"key": "throughput", "value": 5.5})").kind.field,
            "global_batch_size");
  EXPECT_EQ(problem(R"(:::MLLOG {"key": "global_batch_size", "value": 5})").kind.field,
            "tracked_stats");
  expect_every_prefix_is_read_or_refused(sample("mlperf.log"), TraceFormat::kMlperf, 11);
}

// ------------------------------------------------------------------------------ XSpace

/// Makes a profile by the field numbers of xplane.proto.
class Profile {
 public:
  /// Names of events and statistics get ids in the order of their first use.
  static std::string stat(std::uint64_t id, const std::string& text) {
    return WireMessage().number(1, id).text(5, text).bytes();
  }
  static std::string stat(std::uint64_t id, std::uint64_t number) {
    return WireMessage().number(1, id).number(4, number).bytes();
  }
  static std::string reference(std::uint64_t id, std::uint64_t to) {
    return WireMessage().number(1, id).number(7, to).bytes();
  }
  static std::string event(std::uint64_t name, std::int64_t start_us, std::int64_t us,
                           const std::vector<std::string>& stats) {
    WireMessage made;
    made.number(1, name)
        .number(2, static_cast<std::uint64_t>(start_us) * 1'000'000)
        .number(3, static_cast<std::uint64_t>(us) * 1'000'000);
    for (const std::string& one : stats) made.text(4, one);
    return made.bytes();
  }
  static std::string line(const std::string& name, const std::vector<std::string>& events) {
    WireMessage made;
    made.number(1, 1).text(2, name).number(3, 5'000);
    for (const std::string& one : events) made.text(4, one);
    return made.bytes();
  }
  static std::string named(std::uint64_t id, const std::string& name,
                           const std::string& more = "") {
    WireMessage metadata;
    metadata.number(1, id).text(2, name);
    if (!more.empty()) metadata.text(5, more);
    return WireMessage().number(1, id).text(2, metadata.bytes()).bytes();
  }
};

constexpr std::uint64_t kStepNum = 1, kGroupId = 2, kCorrelation = 3, kTfOp = 4, kHloOp = 5,
                        kHloModule = 6, kDetails = 7, kAllReduceName = 8, kBackwardName = 9;

std::string stat_names(WireMessage plane) {
  const std::vector<std::string> names{
      "step_num",       "group_id",     "correlation_id",
      "tf_op",          "hlo_op",       "hlo_module",
      "kernel_details", "all-reduce.1", "gradient_tape/dense/MatMul"};
  for (std::size_t i = 0; i < names.size(); ++i) plane.text(5, Profile::named(i + 1, names[i]));
  return plane.bytes();
}

/// The HLO of a module with an all-reduce of 1000 float32 in groups of 2.
std::string hlo() {
  const std::string shape = WireMessage().number(2, 11).number(3, 10).number(3, 100).bytes();
  const std::string group = WireMessage().number(1, 0).number(1, 1).bytes();
  const std::string instruction = WireMessage()
                                      .text(1, "all-reduce.1")
                                      .text(2, "all-reduce")
                                      .text(3, shape)
                                      .text(49, group)
                                      .bytes();
  const std::string computation = WireMessage().text(1, "main").text(2, instruction).bytes();
  const std::string module = WireMessage().text(1, "a_inference_step").text(3, computation).bytes();
  return WireMessage().number(1, 1).text(6, WireMessage().text(1, module).bytes()).bytes();
}

/// A profile with two GPUs and two steps of a forward kernel, a backward kernel and an all-reduce.
std::string profile() {
  WireMessage space;
  WireMessage metadata;
  metadata.text(2, "/host:metadata").text(4, Profile::named(1, "a_inference_step", hlo()));
  space.text(1, metadata.bytes());
  for (int gpu = 0; gpu < 2; ++gpu) {
    std::vector<std::string> compute, collective;
    for (std::int64_t step = 0; step < 2; ++step) {
      const std::int64_t at = 100 + 1000 * step;
      const auto group = Profile::stat(kGroupId, static_cast<std::uint64_t>(step + 1));
      compute.push_back(Profile::event(1, at, 200, {group}));
      compute.push_back(
          Profile::event(2, at + 200, 300, {group, Profile::reference(kTfOp, kBackwardName)}));
      collective.push_back(
          Profile::event(3, at + 400, 250,
                         {group, Profile::reference(kHloOp, kAllReduceName),
                          Profile::stat(kHloModule, "a_inference_step"),
                          Profile::stat(kDetails, "regs:32 grid:16,1,1 block:512,1,1")}));
    }
    WireMessage plane;
    plane.number(1, 1).text(2, "/device:GPU:" + std::to_string(gpu));
    plane.text(3, Profile::line("Stream #1(Kernel)", compute));
    plane.text(3, Profile::line("Stream #2(Kernel)", collective));
    plane.text(3, Profile::line("XLA Modules", {Profile::event(1, 100, 700, {})}));
    plane.text(4, Profile::named(1, "gemm")).text(4, Profile::named(2, "gemm_backward"));
    plane.text(4, Profile::named(3, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)"));
    space.text(1, stat_names(plane));
  }
  WireMessage host;
  host.number(1, 9).text(2, "/host:CPU");
  host.text(
      3, Profile::line(
             "python",
             {Profile::event(1, 0, 900, {Profile::stat(kStepNum, 10), Profile::stat(kGroupId, 1)}),
              Profile::event(2, 5, 10, {}),
              Profile::event(1, 1000, 900,
                             {Profile::stat(kStepNum, 11), Profile::stat(kGroupId, 2)})}));
  host.text(4, Profile::named(1, "train")).text(4, Profile::named(2, "$python.py:1 call"));
  space.text(1, stat_names(host));
  space.text(4, "host7");
  return space.bytes();
}

TEST(Xspace, ReadsStepsPassesAndCollectives) {
  const std::string bytes = profile();
  EXPECT_EQ(recognise(bytes), TraceFormat::kXspace);
  const MeasuredRun run = run_of_texts({bytes});
  EXPECT_EQ(run.framework, "TensorFlow");
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.world_size, 2);
  EXPECT_EQ(run.gpus_per_host, 2);
  EXPECT_EQ(run.ranks[1].host, "host7");
  ASSERT_EQ(run.ranks[0].steps.size(), 2u);
  const MeasuredStep& step = run.ranks[0].steps[1];
  EXPECT_EQ(step.number, 11);
  EXPECT_EQ(step.backward_ns - step.start_ns, 300'000);
  EXPECT_EQ(step.backward_end_ns - step.backward_ns, 300'000);
  ASSERT_EQ(run.ranks[0].collectives.size(), 2u);
  const MeasuredCollective& c = run.ranks[0].collectives[0];
  EXPECT_EQ(c.kind, MeasuredKind::kAllReduce);
  EXPECT_EQ(c.bytes, 4000);
  EXPECT_EQ(c.type.name, "float32");
  EXPECT_EQ(c.duration_ns, 250'000);
  EXPECT_EQ(c.algorithm, "ring");
  EXPECT_EQ(c.protocol, "ll");
  EXPECT_EQ(c.channels, 16);
  EXPECT_EQ(c.pack, 0);
  EXPECT_EQ(run.counts.ignored().at("derived event"), 2);
  EXPECT_EQ(run.counts.ignored().at("event of the host without statistics"), 1);
  EXPECT_EQ(RecordCounts::sum(run.counts.incomplete()), 0);
  EXPECT_EQ(RecordCounts::sum(run.counts.unknown()), 0);
  const StepModel model = step_model(run);
  ASSERT_EQ(model.packs.size(), 1u);
  EXPECT_EQ(model.packs[0].bytes, 4000);
  EXPECT_EQ(model.gradients[0].elements, 1000);
  const auto scenario = scenario_of_run(run, model, "profile", {"dgx-a100", 1, "", {}, false});
  ASSERT_TRUE(scenario);
  EXPECT_THAT(scenario->text, HasSubstr("bytes_per_pack: 1\n"));
  EXPECT_THAT(scenario->text, HasSubstr("shape: [1000]"));
}

/// Returns an instruction of XLA whose result has 96 elements of a type.
WireMessage instruction(const std::string& opcode, std::uint64_t type = 11) {
  return WireMessage().text(1, opcode).text(2, opcode).text(
      3, WireMessage().number(2, type).number(3, 96).bytes());
}

/// Returns a list of replica groups (field 87) that divides 8 ranks into groups of `size`.
std::string iota_groups(std::uint64_t size) {
  const std::string iota = WireMessage().number(1, 8 / size).number(2, size).bytes();
  return WireMessage().text(2, iota).bytes();
}

struct XlaKernel {
  std::string instruction, opcode, op_name;
};

/// Returns a profile of a GPU with a step that has one kernel of NCCL for each instruction.
std::string profile_of(const std::vector<XlaKernel>& kernels) {
  WireMessage computation, plane, metadata, host;
  std::vector<std::string> events;
  plane.text(2, "/device:GPU:0");
  std::int64_t at = 10;
  for (const XlaKernel& kernel : kernels) {
    computation.text(2, kernel.instruction);
    events.push_back(
        Profile::event(1, at, 5,
                       {Profile::stat(kHloOp, kernel.opcode), Profile::stat(kHloModule, "m"),
                        Profile::stat(kTfOp, kernel.op_name), Profile::stat(kGroupId, 1)}));
    at += 10;
  }
  plane.text(3, Profile::line("Stream #1", events));
  plane.text(4, Profile::named(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)"));
  const std::string module = WireMessage().text(1, "m").text(3, computation.bytes()).bytes();
  const std::string hlo =
      WireMessage().number(1, 1).text(6, WireMessage().text(1, module).bytes()).bytes();
  metadata.text(2, "/host:metadata").text(4, Profile::named(1, "m", hlo));
  host.text(2, "/host:CPU");
  host.text(
      3, Profile::line("python",
                       {Profile::event(
                           1, 0, 900, {Profile::stat(kStepNum, 10), Profile::stat(kGroupId, 1)})}));
  host.text(4, Profile::named(1, "train"));
  return WireMessage()
      .text(1, metadata.bytes())
      .text(1, stat_names(plane))
      .text(1, stat_names(host))
      .bytes();
}

TEST(Xspace, SizesOfCollectivesFollowFromTheirGroups) {
  const auto bytes = [](const WireMessage& made, const std::string& opcode, RecordCounts& counts) {
    const MeasuredRun run = run_of_texts({profile_of({{made.bytes(), opcode, "x"}})});
    counts = run.counts;
    return run.ranks.at(0).collectives.at(0).bytes;
  };
  RecordCounts counts;
  EXPECT_EQ(bytes(instruction("reduce-scatter").text(87, iota_groups(4)), "reduce-scatter", counts),
            96 * 4 * 4);
  EXPECT_EQ(RecordCounts::sum(counts.incomplete()), 0);
  // The result is a tuple of the operand and the result.
  EXPECT_EQ(
      bytes(instruction("all-gather-start").text(87, iota_groups(2)), "all-gather-start", counts),
      96 * 4 / 3 * 2);
  // Without groups, all ranks are a group, but their number is unknown.
  for (const char* opcode : {"reduce-scatter", "all-gather-start"}) {
    EXPECT_EQ(bytes(instruction(opcode), opcode, counts), -1) << opcode;
    EXPECT_EQ(counts.incomplete().at("collective of XLA in a group of unknown size"), 1);
    EXPECT_EQ(counts.incomplete().at("kernel of NCCL of unknown size"), 1);
  }
  EXPECT_EQ(bytes(instruction("all-reduce", 25), "all-reduce", counts), 96);
  EXPECT_EQ(bytes(instruction("all-reduce", 90), "all-reduce", counts), -1);
  EXPECT_EQ(counts.unknown().at("element type 90 of XLA"), 1);
}

TEST(Xspace, AllReducesOfTheForwardPassOrOfPartsOfTheWorldAreNotGradients) {
  const auto reduce = [](const std::string& name, std::uint64_t group) {
    return WireMessage()
        .text(1, name)
        .text(2, "all-reduce")
        .text(3, WireMessage().number(2, 11).number(3, 96).bytes())
        .text(87, iota_groups(group))
        .bytes();
  };
  const MeasuredRun run =
      run_of_texts({profile_of({{reduce("a", 8), "a", "jit(step)/jvp(dense)/dot"},
                                {reduce("b", 2), "b", "jit(step)/transpose(jvp(dense))/dot"},
                                {reduce("c", 8), "c", "jit(step)/transpose(jvp(dense))/dot"},
                                {reduce("d", 8), "d", "pmap(step)/psum"}})});
  const std::vector<MeasuredCollective>& all = run.ranks.at(0).collectives;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].pack, -1);
  EXPECT_EQ(all[1].pack, -1);
  EXPECT_EQ(all[2].pack, 0);
  EXPECT_EQ(all[3].pack, 1);
  EXPECT_THAT(run.notes,
              Contains(HasSubstr("2 all-reduces are not treated as packs of gradients")));
}

TEST(Xspace, ACollectiveOfAnUnknownModuleHasNoSize) {
  WireMessage plane;
  plane.text(2, "/device:GPU:0");
  plane.text(3, Profile::line("Stream #1", {Profile::event(1, 1, 2, {})}));
  plane.text(4, Profile::named(1, "ncclKernel_AllReduce_TREE_LL128_Sum_float(args)"));
  const MeasuredRun run = run_of_texts({WireMessage().text(1, plane.bytes()).bytes()});
  EXPECT_EQ(run.counts.incomplete().at("kernel of NCCL of unknown size"), 1);
  ASSERT_EQ(run.ranks.size(), 1u);
  EXPECT_EQ(run.ranks[0].collectives[0].algorithm, "tree");
  EXPECT_EQ(run.ranks[0].collectives[0].protocol, "ll128");
  EXPECT_THAT(run.notes, Contains(HasSubstr("marks no training steps")));
}

TEST(Xspace, RefusesDamagedAndForeignFilesWithTheErrorPosition) {
  MeasuredRun run;
  for (const char* text : {"", "hello", "\x0a\x7f", "\x12\x02\x41\x42"})
    EXPECT_THAT(test::kinds_of(import_bytes(TraceFormat::kXspace, text, "f", run)),
                ElementsAre("invalid XSpace"))
        << text;
  expect_every_prefix_is_read_or_refused(profile(), TraceFormat::kXspace, 3);
}

}  // namespace
}  // namespace tutti::core
