// `tutti run --backend cuda` and `--backend nccl` on fake GPUs, from the command line to the
// verified result: loading the module, the workers, notes and errors.
// tests/real/cuda_devices_test.cpp tests the GPU's own part on real GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "core/scenario/scenario.h"
#include "core/timeline/reader.h"
#include "real/worker/backend.h"
#include "tests/support/clusters.h"
#include "tests/support/json.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

/// Sets environment variables of the tested program, for the lifetime of this object.
class Settings {
 public:
  explicit Settings(const std::map<std::string, std::string>& settings) {
    for (const auto& [name, value] : settings) {
      ::setenv(name.c_str(), value.c_str(), 1);
      names_.push_back(name);
    }
  }
  ~Settings() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  std::vector<std::string> names_;
};

const std::string kFakes = TUTTI_FAKE_MODULES "/fake_modules";

std::string scenario(const std::string& strategy, int workers, int gpus, int steps = 2) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {0} }} network {{ kind: ONE_SWITCH latency_us: "
      "1 }} machine "
      "{{ name: \"m\" device {{ name: \"gpu[0-{3}]\" kind: GPU memory_gb_per_s: 100 }} device {{ "
      "name: \"cpu0\" kind: "
      "CPU "
      "memory_gb_per_s: 50 }} nic {{ name: \"nic0\" bandwidth_gb_per_s: 10 }} switch {{ name: "
      "\"plx\" kind: "
      "PCIE_SWITCH "
      "}} link {{ from: \"gpu[0-{3}]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 "
      "}} "
      "link {{ from: \"plx\" to: \"cpu0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} "
      "}}\n"
      "workload {{ variable {{ name: \"a\" shape: [100, 1001] }} variable {{ name: \"b\" shape: 7 "
      "data_type: INT32 }} "
      "variable {{ name: \"c\" shape: 5000 data_type: BFLOAT16 }} variable {{ name: \"d\" shape: "
      "333 data_type: INT64 "
      "}} "
      "forward_ms: 1 backward_ms: 2 }}\nstrategy {{ {1} }}\nrun {{ steps: {2} }}\n",
      workers, strategy, steps, gpus - 1);
}

TEST(CudaBackend, ReducesEveryElementByEveryAlgorithmAndNamesTheGpus) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "3"}});
  for (const char* strategy :
       {"algorithm: \"ring\"", "algorithm: \"pscpu\" shards: 2 reduction: MEAN",
        "algorithm: \"psgpu\" shards: 3", "algorithm: \"nccl\" reduction: MEAN",
        "algorithm: \"nccl/pscpu\"", "algorithm: \"pscpu/pscpu\""}) {
    const Outcome ran = run_tutti(
        {"run", folder.write("s.textproto", scenario(strategy, 2, 2)), "--backend", "cuda"});
    EXPECT_EQ(ran.status, 0) << strategy << ": " << ran.err;
    EXPECT_THAT(ran.out, says_verified()) << strategy;
    EXPECT_THAT(ran.out, HasSubstr("CUDA")) << strategy;
    EXPECT_THAT(ran.out, testing::ContainsRegex("w0/gpu0 .*GPU 0 .Fake GPU.")) << strategy;
    EXPECT_THAT(ran.out, testing::ContainsRegex("w1/gpu0 .*GPU 2 .Fake GPU.")) << strategy;
    EXPECT_THAT(ran.out, testing::ContainsRegex("w1/gpu1 .*GPU 0 .Fake GPU.")) << strategy;
  }
}

TEST(CudaBackend, ReplaysComputationOnTheDeviceForItsTime) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "1"}});
  const Outcome ran =
      run_tutti({"run", folder.write("s.textproto", scenario("algorithm: \"ring\"", 2, 2)),
                 "--backend", "cuda", "--timeline", folder.file("t.tutti"), "--steps", "1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 ranks share GPU 0"));
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline);
  for (const core::StepRecord& step : timeline->steps()) {
    EXPECT_GE(step.end - step.start, core::milliseconds(3));
    EXPECT_GE(step.forward, core::milliseconds(1));
    EXPECT_GE(step.backward, core::microseconds(1999));
  }
  for (const auto& block : timeline->span_blocks()) {
    const auto read = timeline->read(block);
    ASSERT_TRUE(read);
    core::Time last;
    for (const core::Span& span : *read) {
      EXPECT_GE(span.start, last) << "spans of a row do not overlap";
      EXPECT_GE(span.duration, core::Time());
      last = span.start + span.duration;
    }
  }
}

TEST(CudaBackend, PerfMeasuresWithIt) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}});
  const Outcome ran =
      run_tutti({"perf", folder.write("s.textproto", scenario("algorithm: \"ring\"", 1, 2)),
                 "--backend", "cuda", "-b", "4K", "-e", "8K", "-n", "2", "-w", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("CUDA"), HasSubstr("GPU 0 (Fake GPU)")));
}

TEST(CudaBackend, PerfNotesInJsonThatRanksShareAGpu) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "1"}});
  const std::string file = folder.write("s.textproto", scenario("algorithm: \"ring\"", 2, 1));
  const std::string one = folder.write("one.textproto", scenario("algorithm: \"ring\"", 1, 2));
  for (const char* format : {"text", "json"}) {
    for (const auto& [what, note] :
         {std::pair(one, "2 ranks share GPU 0"),
          std::pair(file, "ranks of several processes share this machine's GPUs")}) {
      const Outcome ran = run_tutti({"perf", what, "--backend", "cuda", "-b", "4K", "-e", "16K",
                                     "-n", "1", "-w", "0", "--op", "avg", "--format", format});
      EXPECT_EQ(ran.status, 0) << ran.err;
      const std::size_t first = ran.out.find(note);
      ASSERT_NE(first, std::string::npos) << ran.out;
      EXPECT_EQ(ran.out.find(note, first + 1), std::string::npos) << "once for all sizes";
    }
  }
}

TEST(NcclBackend, PerfPrintsMeasuredSizesIfALaterSizeFails) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "2"}});
  const std::string file = folder.write("s.textproto", scenario("algorithm: \"nccl\"", 2, 1));
  // The fake GPU has room for 8 MiB.
  const std::vector<std::string> words{"perf", file,  "--backend", "nccl", "-b", "4K",
                                       "-e",   "16M", "-f",        "64",   "-n", "1"};
  const Outcome text = run_tutti(words);
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.err, HasSubstr("worker "));
  // Between two rows, perf may print a note that there were too few cores.
  EXPECT_THAT(text.out,
              testing::ContainsRegex(
                  "\n +4096 +1024 [^\n]* 0\n(#[^\n]*\n)? +262144 +65536 [^\n]* 0\n# Avg"));
  std::vector<std::string> asking = words;
  asking.insert(asking.end(), {"--format", "json"});
  const Outcome json = run_tutti(asking);
  EXPECT_EQ(json.status, 1);
  const core::Value document = parse_or_throw(json.out, "out");
  EXPECT_EQ(Data(document)["rows"].items().size(), 2u);
  EXPECT_THAT(Data(document)["error"].text(), HasSubstr("worker "));
}

TEST(CudaBackend, AFailingGpuEndsTheRunWithOneErrorThatNamesItsWorker) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_CUDA_FAILS_AT", "40"}});
  const Outcome ran =
      run_tutti({"run", folder.write("s.textproto", scenario("algorithm: \"ring\"", 2, 1)),
                 "--backend", "cuda"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, testing::ContainsRegex("worker [01] .*CUDA, GPU [01] .Fake GPU.: .*700"));
}

TEST(NcclBackend, ReducesEveryElementAloneAndWithASecondStageAcrossWorkers) {
  const TemporaryFolder folder;
  const Settings settings(
      {{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "6"}, {"NCCL_ALGO", "Ring"}});
  for (const char* strategy :
       {"algorithm: \"nccl\"", "algorithm: \"nccl\" reduction: MEAN launch: CONCURRENT",
        "algorithm: \"nccl/ring\"", "algorithm: \"nccl/halving_doubling\" reduction: MEAN",
        "algorithm: \"nccl/pscpu\" launch: CONCURRENT", "algorithm: \"nccl\" reduction: MAX"}) {
    for (const auto& [workers, gpus] : {std::pair{2, 2}, std::pair{4, 1}, std::pair{1, 4}}) {
      const Outcome ran =
          run_tutti({"run", folder.write("s.textproto", scenario(strategy, workers, gpus)),
                     "--backend", "nccl"});
      EXPECT_EQ(ran.status, 0) << strategy << " " << workers << "x" << gpus << ": " << ran.err;
      EXPECT_THAT(ran.out, says_verified()) << strategy;
      EXPECT_THAT(ran.out, AllOf(HasSubstr("NCCL 2.28.9"), HasSubstr("NCCL_ALGO=Ring")))
          << strategy;
    }
  }
}

TEST(NcclBackend, PerfRunsEveryCollective) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "6"}});
  for (const auto& [workers, gpus] : {std::pair{2, 2}, std::pair{3, 1}, std::pair{1, 3}}) {
    const std::string file =
        folder.write("s.textproto", scenario("algorithm: \"nccl\"", workers, gpus));
    for (const core::CollectiveKind kind : core::collective_kinds()) {
      std::vector<std::string> words{
          "perf", file, "--backend", "nccl", "--collective", std::string(to_string(kind)),
          "-b",   "1K", "-e",        "16K",  "-f",           "16"};
      if (core::has_root(kind))
        words.insert(words.end(), {"-r", std::to_string(workers * gpus - 1)});
      const Outcome ran = run_tutti(words);
      EXPECT_EQ(ran.status, 0) << to_string(kind) << ": " << ran.err;
      EXPECT_THAT(ran.out, testing::ContainsRegex(
                               core::can_be_in_place(kind)
                                   ? " 0 .* 0\n# Out of bounds values : 0 OK"
                                   : " 0 +N/A +N/A +N/A +N/A\n# Out of bounds values : 0 OK"))
          << to_string(kind) << " on " << workers << " x " << gpus;
    }
  }
}

TEST(NcclBackend, TheTimelineHasChannelsThatAreComparedWithPredictedLanes) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "4"}});
  for (const char* algorithm : {"nccl", "nccl/ring"}) {
    const std::string file =
        folder.write("s.textproto", scenario(fmt::format("algorithm: \"{}\"", algorithm), 2, 2, 3));
    const std::string real = folder.path() + "/real.tutti",
                      simulated = folder.path() + "/simulated.tutti";
    const Outcome ran =
        run_tutti({"run", file, "--backend", "nccl", "--record", "steps", "--timeline", real});
    ASSERT_EQ(ran.status, 0) << ran.err;
    ASSERT_EQ(run_tutti({"simulate", file, "--record", "steps", "--timeline", simulated}).status,
              0);

    const auto timeline = core::TimelineReader::open(real);
    ASSERT_TRUE(timeline) << timeline.error().message();
    std::map<core::TrackId, core::Track> tracks;
    for (const core::Track& track : timeline->tracks()) tracks[track.id] = track;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t, std::string, std::int32_t>, int>
        channels;
    for (const core::TimelineReader::SpanBlock& block : timeline->span_blocks()) {
      const core::Track& track = tracks.at(block.track);
      const auto spans = timeline->read(block);
      ASSERT_TRUE(spans);
      for (const core::Span& span : *spans) {
        if (span.kind != core::SpanKind::kChannel) continue;
        EXPECT_EQ(track.kind, core::TrackKind::kLane);
        ++channels[{span.step, span.pack, span.index,
                    fmt::format("w{}/{}", track.worker, track.device), track.lane}];
      }
    }
    // The numbers of steps, packs, devices, and channels of the fake. Inside workers, NCCL both
    // reduces and broadcasts.
    const std::size_t parts = std::string(algorithm) == "nccl" ? 1 : 2;
    EXPECT_EQ(channels.size(), 3u * timeline->run().packs.size() * 4 * 2 * parts);
    for (const auto& [what, times] : channels) EXPECT_EQ(times, 1);

    const Outcome compared = run_tutti({"compare", simulated, real, "--format", "json"});
    EXPECT_EQ(compared.status, 0) << compared.err;
    const core::Value document = parse_or_throw(compared.out, "out");
    const std::vector<Data> kinds = Data(document)["steps"].items();
    EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(), [](const Data& kind) {
      return kind["step"].text() == "NCCL channel";
    })) << compared.out;
  }
}

TEST(NcclBackend, NotesThatNcclReportsNoChannels) {
  const TemporaryFolder folder;
  const Settings settings(
      {{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "2"}, {"TUTTI_FAKE_NCCL_TELLS", "nothing"}});
  const Outcome ran =
      run_tutti({"run", folder.write("s.textproto", scenario("algorithm: \"nccl\"", 2, 1, 1)),
                 "--backend", "nccl", "--timeline", folder.file("t.tutti")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string note = "the recording needs NCCL 2.27 or later";
  const std::size_t first = ran.out.find(note);
  ASSERT_NE(first, std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find(note, first + 1), std::string::npos)
      << "once, although two workers report it";
}

TEST(NcclBackend, LoopbackIsForWorkersOfOneMachineOnly) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "1"}});
  const auto read =
      core::read_scenario(scenario("algorithm: \"nccl\"", 3, 1), "s", shipped_library());
  ASSERT_TRUE(read) << read.error().message();
  for (const int here : {2, 3}) {
    real::BackendOptions options;
    options.backend = real::Backend::kNccl;
    options.workers_here = here;
    ASSERT_TRUE(real::make_devices(options, *read));
    const char* const name = std::getenv("NCCL_SOCKET_IFNAME");
    EXPECT_EQ(std::string(name ? name : ""), here == 3 ? "lo" : "");
    EXPECT_NE(std::getenv("NCCL_HOSTID"), nullptr) << "they share the GPU";
    for (const char* set : {"NCCL_HOSTID", "NCCL_NET", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE",
                            "NCCL_SOCKET_IFNAME", "NCCL_MNNVL_ENABLE"})
      ::unsetenv(set);
  }
}

TEST(NcclBackend, ProcessesThatShareAGpuAreSeparateHostsForNccl) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "1"}});
  const Outcome ran =
      run_tutti({"run", folder.write("s.textproto", scenario("algorithm: \"nccl\"", 3, 1)),
                 "--backend", "nccl"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* note :
       {"NCCL_HOSTID=tutti-worker-0", "NCCL_HOSTID=tutti-worker-2", "NCCL_NET=Socket",
        "NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "share this machine"})
    EXPECT_THAT(ran.out, HasSubstr(note));
}

TEST(NcclBackend, RefusesWhatNcclDoesNotSupport) {
  const TemporaryFolder folder;
  const auto expect_refused = [&](const std::string& strategy, int gpus,
                                  const std::map<std::string, std::string>& settings,
                                  const Mistake& mistake) {
    const Settings set(settings);
    test::expect_refused(
        {"run", folder.write("s.textproto", scenario(strategy, 1, gpus)), "--backend", "nccl"},
        folder, mistake);
  };
  for (const char* algorithm : {"ring", "pscpu", "psgpu", "pscpu/pscpu"}) {
    expect_refused(fmt::format("algorithm: \"{}\"", algorithm), 2, {{"TUTTI_MODULES", kFakes}},
                   {ProblemCode::kConflict, "--backend"});
  }
  expect_refused("algorithm: \"nccl\"", 4, {{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "2"}},
                 {ProblemCode::kTooLarge, "--backend"});
  const TemporaryFolder without;
  std::filesystem::copy(kFakes + "/libtutti_cuda.so", without.file("libtutti_cuda.so"));
  expect_refused("algorithm: \"nccl\"", 2, {{"TUTTI_MODULES", without.path()}},
                 {ProblemCode::kMissing, "--backend"});
}

TEST(NcclBackend, AFailingPeerEndsTheRunWithOneErrorOfNccl) {
  const TemporaryFolder folder;
  const Settings settings({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_NCCL_FAILS_AT", "2"}});
  const Outcome ran =
      run_tutti({"run", folder.write("s.textproto", scenario("algorithm: \"nccl\"", 2, 1)),
                 "--backend", "nccl"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, testing::ContainsRegex("worker [01] .*NCCL: .*remote process exited"));
}

TEST(CudaBackend, ReportsMissingPartsBeforeTheRun) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", scenario("algorithm: \"ring\"", 2, 1));
  const auto expect_refused = [&](const std::map<std::string, std::string>& settings,
                                  const Mistake& mistake) {
    const Settings set(settings);
    test::expect_refused({"run", file, "--backend", "cuda"}, folder, mistake);
    const std::string err = run_tutti({"run", file, "--backend", "cuda"}).err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  };
  expect_refused({{"TUTTI_MODULES", folder.path()}}, {ProblemCode::kMissing, "--backend"});
  expect_refused({{"TUTTI_MODULES", TUTTI_FAKE_MODULES "/other_version"}},
                 {ProblemCode::kConflict, "--backend"});
  expect_refused({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_CUDA_ERROR", "35"}},
                 {ProblemCode::kMissing, "--backend"});
  expect_refused({{"TUTTI_MODULES", kFakes}, {"TUTTI_FAKE_GPUS", "0"}},
                 {ProblemCode::kMissing, "--backend"});
  const TemporaryFolder broken;
  static_cast<void>(broken.write("libtutti_cuda.so", "no library at all"));
  expect_refused({{"TUTTI_MODULES", broken.path()}}, {ProblemCode::kInvalid, "--backend"});
  const TemporaryFolder stranger;
  std::filesystem::copy(TUTTI_FAKE_MODULES "/stranger/libtutti_cuda.so",
                        stranger.file("libtutti_cuda.so"));
  expect_refused({{"TUTTI_MODULES", stranger.path()}}, {ProblemCode::kWrongType, "--backend"});
}

TEST(CudaBackend, RefusesClustersOfCpusAndUnknownBackends) {
  const TemporaryFolder folder;
  const std::string cpus =
      folder.write("cpus.textproto",
                   "cluster { workers { machine: \"cpu-host\" count: 2 } network { kind: "
                   "ONE_SWITCH latency_us: 1 } }\n"
                   "workload { variable { name: \"a\" shape: 7 } forward_ms: 1 backward_ms: 2 }\n"
                   "strategy { algorithm: \"ring\" }\n");
  const Settings settings({{"TUTTI_MODULES", kFakes}});
  for (const char* backend : {"cuda", "nccl"}) {
    for (const char* command : {"run", "perf"}) {
      expect_refused({command, cpus, "--backend", backend}, folder,
                     {ProblemCode::kConflict, "--backend", 0, 0, cpus});
    }
  }
  expect_refused({"run", cpus, "--backend", "rocm"}, folder,
                 {ProblemCode::kUnknownName, "--backend"});
}

}  // namespace
}  // namespace tutti::test
