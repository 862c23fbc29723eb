// `tutti run` with real processes: every algorithm with verified results, the timeline that is
// written, interrupted and killed runs, busy machines, and runs that do not fit into memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "core/strategy/strategy.h"
#include "core/timeline/reader.h"
#include "tests/support/clusters.h"
#include "tests/support/json.h"
#include "tests/support/program.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

std::string scenario(const std::string& strategy, int workers = 3, const std::string& workload = "",
                     int steps = 2) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} network {{ kind: ONE_SWITCH latency_us: 1 "
      "}} machine {{ name: "
      "\"m\" "
      "device {{ name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 100 }} device {{ name: \"cpu0\" "
      "kind: CPU "
      "memory_gb_per_s: 50 }} "
      "nic {{ name: \"nic0\" bandwidth_gb_per_s: 10 }} switch {{ name: \"plx\" kind: PCIE_SWITCH "
      "}} "
      "link {{ from: \"gpu[0-1]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"cpu0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} "
      "}}\n"
      "workload {{ {} }}\nstrategy {{ {} }}\nrun {{ steps: {} }}\n",
      workers,
      workload.empty()
          ? "variable { name: \"a\" shape: [100, 1001] } variable { name: \"b\" shape: 7 "
            "data_type: INT32 } variable { "
            "name: \"c\" shape: 5000 data_type: BFLOAT16 } forward_ms: 1 backward_ms: 2"
          : workload,
      strategy, steps);
}

/// Returns the processes whose arguments contain `text`.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    // Reads through the stream, because an istreambuf_iterator throws if a process ends while its
    // file is read.
    std::ostringstream read;
    read << file.rdbuf();
    std::string arguments = read.str();
    std::replace(arguments.begin(), arguments.end(), '\0', ' ');
    if (arguments.find(text) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

/// Returns the worker processes of the command that runs the scenario, when all of them exist.
std::vector<pid_t> workers_of(const std::string& scenario_file, std::size_t count) {
  for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    const std::vector<pid_t> coordinator = processes_with(scenario_file);
    if (coordinator.empty()) continue;
    std::vector<pid_t> workers;
    for (const pid_t id : processes_with("worker --join")) {
      std::ifstream status("/proc/" + std::to_string(id) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (line == "PPid:\t" + std::to_string(coordinator.front())) workers.push_back(id);
      }
    }
    if (workers.size() == count) return workers;
  }
  return {};
}

bool all_gone(const std::vector<pid_t>& processes) {
  for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    if (std::none_of(processes.begin(), processes.end(),
                     [](pid_t id) { return ::kill(id, 0) == 0; }))
      return true;
  }
  return false;
}

/// Runs the command in a separate thread, so that the test can interfere with its workers.
class Running {
 public:
  explicit Running(std::vector<std::string> arguments)
      : thread_([this, arguments = std::move(arguments)] { outcome_ = run_tutti(arguments); }) {}
  ~Running() {
    if (thread_.joinable()) thread_.join();
  }
  const Outcome& wait() {
    thread_.join();
    return outcome_;
  }

 private:
  Outcome outcome_;
  std::thread thread_;
};

TEST(RunForReal, ReducesEveryElementByEveryAlgorithm) {
  const TemporaryFolder folder;
  std::vector<std::string> strategies{"algorithm: \"pscpu\" shards: 2 reduction: MEAN",
                                      "algorithm: \"nccl\" reduction: MEAN",
                                      "algorithm: \"ring\" bytes_per_pack: 0"};
  for (const core::AlgorithmChoice algorithm : core::algorithms())
    strategies.push_back(fmt::format("algorithm: \"{}\"", core::to_string(algorithm)));
  for (const std::string& strategy : strategies) {
    // Some algorithms require a power of two, of workers or of all replicas.
    const bool doubles = strategy.find("doubling") != std::string::npos;
    const bool one = strategy.find("hierarchical_copy") != std::string::npos;  // for one machine
    const std::string file = folder.write("s.textproto", scenario(strategy, one       ? 1
                                                                            : doubles ? 2
                                                                                      : 3));
    for (const char* transport : {"tcp", "shm"}) {
      const Outcome ran = run_tutti({"run", file, "--transport", transport});
      EXPECT_EQ(ran.status, 0) << strategy << ": " << ran.err;
      EXPECT_THAT(ran.out, says_verified()) << strategy;
      EXPECT_THAT(ran.out, HasSubstr(transport == std::string("shm") ? "shared memory" : "tcp"))
          << strategy;
    }
  }
}

/// Packs of one step differ: with and without the workers' CPUs as ranks, staged and direct, packed
/// and single gradients.
TEST(RunForReal, ReducesPacksOfDifferentAlgorithmsInOneStep) {
  const TemporaryFolder folder;
  for (const char* strategy : {"tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                               "\"pscpu#2:100:nccl/pscpu:9k:xring#2\" } } } "
                               "reduction: MEAN",
                               "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                               "\"nccl:100:pscpu/pscpu#2:9k:psgpu#3\" } } }",
                               "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                               "\"[('nccl/xring', 1, 9000), ('pscpu/pscpu', "
                               "2)]\" limit_unit: ELEMENTS } } }",
                               "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                               "\"xring:9k:pscpu\" } num_packs: 3 } }",
                               "tensorflow { multi_worker_all_reduce { all_reduce_spec { } "
                               "agg_small_grads_max_bytes: 100 } }"}) {
    const bool concatenates = std::string(strategy).find("num_packs") != std::string::npos;
    const std::string file = folder.write(
        "s.textproto",
        scenario(strategy, 2,
                 concatenates ? "variable { name: \"a\" shape: [100, 1001] } variable { name: "
                                "\"b\" shape: 7 } variable { "
                                "name: \"c\" shape: 5001 } forward_ms: 1 backward_ms: 2"
                              : ""));
    const Outcome planned = run_tutti({"plan", file, "--check"});
    EXPECT_EQ(planned.status, 0) << strategy << ": " << planned.err;
    EXPECT_EQ(run_tutti({"simulate", file}).status, 0) << strategy;
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--transport", "tcp"}, {"--transport", "shm"}, {"--emulate"}}) {
      std::vector<std::string> command{"run", file};
      command.insert(command.end(), how.begin(), how.end());
      const Outcome ran = run_tutti(command);
      EXPECT_EQ(ran.status, 0) << strategy << ": " << ran.err;
      EXPECT_THAT(ran.out, says_verified()) << strategy;
    }
  }
}

/// Returns, for every step of every lane, the receiver's place, training step, pack and step of the
/// lane, and the sender's place and step.
std::set<std::string> messages_in(const std::string& timeline) {
  const auto read = core::TimelineReader::open(timeline);
  if (!read) return {};
  std::map<core::TrackId, std::string> names;
  for (const core::Track& t : read->tracks())
    names[t.id] = fmt::format("w{}/{} lane {}", t.worker, t.device, t.lane);
  std::set<std::string> messages;
  for (const auto& block : read->span_blocks()) {
    const auto spans = read->read(block);
    for (const core::Span& span : *spans) {
      if (span.peer != core::kNoTrack)
        messages.insert(fmt::format("{}, step {}, pack {}, {} from {}, {}", names[block.track],
                                    span.step, span.pack, span.index, names[span.peer],
                                    span.peer_index));
    }
  }
  return messages;
}

TEST(RunForReal, MessagesHaveTheSimulatedSenders) {
  for (const core::AlgorithmChoice algorithm : core::algorithms()) {
    const TemporaryFolder folder;
    const std::string name(core::to_string(algorithm));
    // For lanes that accept messages in any order, only the simulator records the sender.
    if (name.find("pscpu") != std::string::npos || name.find("psgpu") != std::string::npos ||
        name == "nccl/xring" || name == "reduction_to_one_device" || name == "hierarchical_copy")
      continue;
    const bool doubles = name.find("doubling") != std::string::npos;
    const std::string file =
        folder.write("s.textproto", scenario("algorithm: \"" + name + "\"", doubles ? 2 : 3));
    const std::string predicted = folder.file("predicted"), real = folder.file("real");
    ASSERT_EQ(run_tutti({"simulate", file, "--record", "steps", "--timeline", predicted}).status, 0)
        << name;
    ASSERT_EQ(run_tutti({"run", file, "--record", "steps", "--timeline", real}).status, 0) << name;
    const std::set<std::string> expected = messages_in(predicted);
    EXPECT_GT(expected.size(), 10u) << name;
    EXPECT_EQ(messages_in(real), expected) << name;
  }
}

TEST(RunForReal, WritesATimeline) {
  const TemporaryFolder folder;
  const Outcome ran =
      run_tutti({"run", folder.write("s.textproto", scenario("algorithm: \"ring\"")), "--timeline",
                 folder.file("t.tutti")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->complete());
  ASSERT_EQ(timeline->steps().size(), 2u);
  EXPECT_EQ(timeline->packs().size(), 2 * 3u);
  for (const core::StepRecord& step : timeline->steps()) {
    EXPECT_GE(step.end - step.start, core::milliseconds(3))
        << "forward and backward take their time";
    // Work that a replica did before the others had ended the previous step belongs to that step.
    EXPECT_LE(step.forward, core::milliseconds(1));
    EXPECT_LE(step.backward, core::milliseconds(2) + core::microseconds(1)) << "whole nanoseconds";
  }
  const core::StepRecord& first = timeline->steps().front();
  EXPECT_EQ(first.forward, core::milliseconds(1));
  EXPECT_NEAR(static_cast<double>(first.backward.count()), 2e9, 3e3)
      << "three layers, each in whole nanoseconds";
  std::set<std::string> devices;
  for (const core::Track& track : timeline->tracks())
    devices.insert(fmt::format("w{}/{}", track.worker, track.device));
  EXPECT_THAT(devices, testing::ElementsAre("w0/gpu0", "w0/gpu1", "w1/gpu0", "w1/gpu1", "w2/gpu0",
                                            "w2/gpu1"));
  std::int64_t spans = 0;
  for (const auto& block : timeline->span_blocks()) {
    const auto read = timeline->read(block);
    ASSERT_TRUE(read);
    core::Time last;
    for (const core::Span& span : *read) {
      EXPECT_GE(span.start, last) << "spans of a row do not overlap";
      last = span.start + span.duration;
      ++spans;
    }
  }
  EXPECT_GT(spans, 100);
  EXPECT_EQ(run_tutti({"export", folder.file("t.tutti"), "--to", "perfetto"}).status, 0);
  EXPECT_EQ(run_tutti({"export", folder.file("t.tutti"), "--to", "svg"}).status, 0);
}

double seconds_of_cores(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

/// Two workers with two replicas each compute 2 × 100 ms. There are more workers than cores, so
/// each waits for its core from time to time. This waiting is not communication.
TEST(RunForReal, ExposedCommunicationIsPartOfCommunicationOnABusyMachine) {
  const TemporaryFolder folder;
  const std::string workload =
      "variable { name: \"a\" shape: 300000 } variable { name: \"b\" shape: 70000 } "
      "forward_ms: 2 backward_ms: 3";
  const std::vector<std::vector<std::string>> options{
      {}, {"--compute", "busy"}, {"--emulate", "--time-scale", "20"}};
  for (const std::vector<std::string>& more : options) {
    const std::string file =
        folder.write("s.textproto", scenario("algorithm: \"ring\"", 8, workload, 12));
    std::vector<std::string> words{"run", file, "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = run_tutti(words);
    ASSERT_EQ(o.status, 0) << o.err;
    const core::Value document = parse_or_throw(o.out, "out");
    const Data report(document);
    const auto check = [](const Data& part, double time) {
      const auto us = [&](const char* name) { return part[name].real(); };
      EXPECT_LE(us("exposed_communication_us"), us("communication_us"));
      EXPECT_NEAR(us("forward_us") + us("backward_us") + us("other_compute_us") +
                      us("exposed_communication_us") + us("waiting_us"),
                  time, 0.01);
      for (const char* name : {"forward_us", "backward_us", "other_compute_us", "communication_us",
                               "exposed_communication_us", "waiting_us"})
        EXPECT_GE(us(name), 0) << name;
    };
    check(report, report["step_time_us"].real());
    const std::vector<Data> steps = report["steps"].items();
    EXPECT_EQ(steps.size(), 12u);
    for (const Data& step : steps) check(step, step["time_us"].real());
  }
}

TEST(RunForReal, BusyComputationUsesOneCorePerReplica) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.textproto", scenario("algorithm: \"pscpu\"", 2,
                              "variable { name: \"a\" shape: 10 } forward_ms: 50 backward_ms: 50"));
  const auto spent = [&](const std::string& compute) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_CHILDREN, &before);
    const Outcome ran =
        run_tutti({"run", file, "--compute", compute, "--timeline", folder.file(compute)});
    EXPECT_EQ(ran.status, 0) << ran.err;
    ::getrusage(RUSAGE_CHILDREN, &after);
    return seconds_of_cores(after.ru_utime) + seconds_of_cores(after.ru_stime) -
           seconds_of_cores(before.ru_utime) - seconds_of_cores(before.ru_stime);
  };
  EXPECT_GE(spent("busy"), 0.8);
  const auto timeline = core::TimelineReader::open(folder.file("busy"));
  ASSERT_TRUE(timeline);
  for (const core::StepRecord& step : timeline->steps())
    EXPECT_GE(step.end - step.start, core::milliseconds(90))
        << "whether or not it had the core to itself";
  expect_refused({"run", file, "--compute", "lazy"}, folder,
                 {ProblemCode::kUnknownName, "--compute"});
  expect_refused({"run", file, "--compute", "busy", "--emulate"}, folder,
                 {ProblemCode::kConflict, "--compute"});
}

TEST(Run, RefusesToEmulateLinksBetweenSwitches) {
  const TemporaryFolder folder;
  const std::string file = folder.write("tree.textproto",
                                        "cluster { workers { machine: \"cpu-host\" count: 4 } "
                                        "network { kind: FAT_TREE link: \"edr\" fat_tree { "
                                        "workers_per_leaf: 2 spines: 1 } } } workload { variable { "
                                        "name: \"v\" shape: 100 } update_ms: 0 } strategy { "
                                        "algorithm: \"ring\" } run { steps: 1 }");
  expect_refused({"run", file, "--emulate"}, folder,
                 {ProblemCode::kConflict, "--emulate", 0, 0, file});
  EXPECT_EQ(run_tutti({"run", file}).status, 0)
      << "a real run uses this machine's network, but still reads the file of edr";
}

TEST(RunForReal, NamesAKilledWorkerAndEndsTheOthers) {
  for (const char* transport : {"tcp", "shm"}) {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "killed.textproto", scenario("algorithm: \"ring\"", 3,
                                     "variable { name: \"a\" shape: 1000 } forward_ms: 60000"));
    Running running({"run", file, "--timeline", folder.file("t.tutti"), "--transport", transport});
    const std::vector<pid_t> workers = workers_of(file, 3);
    ASSERT_EQ(workers.size(), 3u);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(workers[1], SIGKILL);
    const Outcome& ran = running.wait();
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, testing::ContainsRegex("worker [0-2] .* signal 9"));
    EXPECT_TRUE(all_gone(workers));
  }
}

TEST(RunForReal, AWorkerThatIsStoppedEndsTheRunInTime) {
  for (const char* transport : {"tcp", "shm"}) {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "stopped.textproto", scenario("algorithm: \"ring\"", 2,
                                      "variable { name: \"a\" shape: 1000 } forward_ms: 1500"));
    Running running({"run", file, "--timeout-seconds", "1", "--transport", transport});
    const std::vector<pid_t> workers = workers_of(file, 2);
    ASSERT_EQ(workers.size(), 2u);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ::kill(workers[0], SIGSTOP);
    const Outcome& ran = running.wait();
    EXPECT_EQ(ran.status, 1);
    // On a very busy machine, the worker may have been stopped before it joined.
    EXPECT_THAT(ran.err, testing::ContainsRegex("worker [01]"));
    EXPECT_TRUE(all_gone(workers));
  }
}

TEST(RunForReal, ControlCEndsTheWorkersAndKeepsTheTimeline) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "many.textproto", scenario("algorithm: \"ring\"", 2,
                                 "variable { name: \"a\" shape: 1000 } forward_ms: 5", 10'000));
  RunOptions options;
  options.interrupt_once = folder.file("t.tutti.part");
  const Outcome ran = run_tutti({"run", file, "--timeline", folder.file("t.tutti")}, options);
  EXPECT_EQ(ran.status, 1) << ran.err;
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->complete());
  EXPECT_TRUE(processes_with(file).empty());
}

TEST(RunForReal, ControlCKeepsTheStepsOfABatchThatHadEnded) {
  const TemporaryFolder folder;
  // Sixteen steps of 0.4 s form one batch, and workers report the spans of a batch at its end.
  const std::string file = folder.write(
      "few.textproto", scenario("algorithm: \"ring\"", 2,
                                "variable { name: \"a\" shape: 1000 } forward_ms: 400", 16));
  RunOptions options;
  options.interrupt_once = folder.file("t.tutti.part");
  options.interrupt_later_ms = 3000;
  const Outcome ran = run_tutti({"run", file, "--timeline", folder.file("t.tutti")}, options);
  EXPECT_EQ(ran.status, 1) << ran.err;
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline);
  EXPECT_GE(timeline->steps().size(), 1u);
  EXPECT_LT(timeline->steps().size(), 16u);
  EXPECT_FALSE(timeline->span_blocks().empty());
  EXPECT_THAT(ran.out, AllOf(says_stopped_by_request(),
                             HasSubstr(fmt::format(" {} of 16 steps", timeline->steps().size()))));
}

TEST(RunForReal, ControlCInTheFirstStepKeepsAnOlderTimeline) {
  const TemporaryFolder folder;
  const std::string shape = "variable { name: \"a\" shape: 1000 } forward_ms: ";
  const std::string older = folder.file("t.tutti");
  ASSERT_EQ(
      run_tutti({"run",
                 folder.write("a.textproto", scenario("algorithm: \"ring\"", 2, shape + "1", 2)),
                 "--timeline", older})
          .status,
      0);
  const std::string before = folder.read("t.tutti");
  RunOptions options;
  options.interrupt_once = folder.file("t.tutti.part");
  const Outcome ran = run_tutti(
      {"run", folder.write("b.textproto", scenario("algorithm: \"ring\"", 2, shape + "60000", 1)),
       "--timeline", older},
      options);
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(folder.read("t.tutti"), before);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("no training step ended"), HasSubstr(older)));
}

TEST(RunForReal, TheCommandsOfTheReadmeComparePredictionAndRun) {
  const TemporaryFolder folder;
  const std::string file = source_folder() + "/scenarios/04_resnet50_ring.textproto";
  const std::string predicted = folder.file("mine.tutti"), real = folder.file("real.tutti");
  ASSERT_EQ(run_tutti({"simulate", file, "--timeline", predicted}).status, 0);
  const Outcome ran = run_tutti({"run", file, "--timeline", real, "--steps", "1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, says_verified());
  const Outcome compared = run_tutti({"compare", predicted, real, "--format", "json"});
  EXPECT_EQ(compared.status, 0) << compared.err;
  const core::Value document = parse_or_throw(compared.out, "out");
  EXPECT_EQ(Data(document)["packs"].items().size(), 4u);
  EXPECT_FALSE(Data(document)["steps"].items().empty()) << "steps of lanes that both recorded";
}

TEST(RunForReal, EmulatedLaneStepsTakeTheSimulatedTimes) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("s.textproto",
                   "cluster { workers { machine: \"cpu-host\" count: 3 } network { kind: "
                   "ONE_SWITCH latency_us: 50 bandwidth_gb_per_s: "
                   "0.125 } } workload { variable { name: \"a\" shape: 300000 } forward_ms: 1 "
                   "backward_ms: 1 } strategy { algorithm: "
                   "\"ring\" } run { steps: 2 }");
  const std::string predicted = folder.file("predicted.tutti"),
                    emulated = folder.file("emulated.tutti");
  ASSERT_EQ(run_tutti({"simulate", file, "--timeline", predicted}).status, 0);
  ASSERT_EQ(
      run_tutti({"run", file, "--emulate", "--time-scale", "20", "--timeline", emulated}).status,
      0);
  const Outcome o = run_tutti({"compare", predicted, emulated, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = parse_or_throw(o.out, "out");
  const std::vector<Data> kinds = Data(document)["steps"].items();
  ASSERT_EQ(kinds.size(), 5u) << "of a ring: " << o.out;
  for (const Data& kind : kinds) {
    const double simulated = kind["time"]["first_us"].real();
    EXPECT_GT(simulated, 0);
    EXPECT_NEAR(kind["time"]["second_us"].real() / simulated, 1, 0.1) << kind["step"].text();
  }
}

TEST(RunForReal, SeveralConnectionsBetweenWorkersGiveTheSameResult) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", scenario("algorithm: \"pscpu\" shards: 2"));
  const Outcome ran = run_tutti({"run", file, "--streams", "4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, says_verified());
  EXPECT_THAT(ran.out, HasSubstr("4 connections"));
  for (const char* streams : {"0", "-1"})
    expect_refused({"run", file, "--streams", streams}, folder,
                   {ProblemCode::kTooSmall, "--streams"});
  expect_refused({"run", file, "--streams", "65"}, folder, {ProblemCode::kTooLarge, "--streams"});
  expect_refused({"run", file, "--streams", "2", "--transport", "shm"}, folder,
                 {ProblemCode::kConflict, "--streams"});
  expect_refused({"perf", file, "--streams", "2"}, folder, {ProblemCode::kUnused, "--streams"});
}

TEST(RunForReal, RunsFewerRanks) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", scenario("algorithm: \"ring\""));
  const Outcome o = run_tutti({"run", file, "--ranks", "4"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("2 × m, 4 GPUs"));
  for (const char* const wrong : {"3", "0", "8", "-2"}) {
    const Outcome refused = run_tutti({"run", file, "--ranks", wrong});
    EXPECT_EQ(refused.status, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("expected 2 to 6 in steps of 2; the scenario has 3 workers "
                                       "with 2 ranks each"));
  }
  std::string groups = folder.read("s.textproto");
  groups.replace(groups.find("network"), 0, "workers { machine: \"m\" } ");
  EXPECT_THAT(run_tutti({"run", folder.write("g.textproto", groups), "--ranks", "4"}).err,
              HasSubstr("--ranks 4: the scenario has several groups of workers"));
}

TEST(RunForReal, RefusesRunsThatExceedMemoryBeforeTheStart) {
  const TemporaryFolder folder;
  // 4.4 TB on each of the six replicas.
  const std::string file = folder.write(
      "s.textproto", scenario("algorithm: \"ring\"", 3,
                              "variable { name: \"a\" shape: 1099511627776 } forward_ms: 1"));
  expect_refused({"run", file, "--timeline", folder.file("t.tutti")}, folder,
                 {ProblemCode::kTooLarge, "Cluster", 0, 0, file});
  EXPECT_THAT(run_tutti({"run", file}).err,
              testing::AllOf(HasSubstr("26.4 TB"), HasSubstr("3 workers")));
}

TEST(RunForReal, StatesHowManyOpenFilesTheWorkersNeed) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", scenario("algorithm: \"ring\"", 20));
  const Outcome refused = run_tutti({"run", file}, {.open_files = 119});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("20 workers need 120 open files"),
                                          HasSubstr("only 119"), HasSubstr("(ulimit -n 120)")));
}

TEST(RunForReal, RefusesUnsupportedScenarios) {
  const TemporaryFolder folder;
  const std::string many = folder.write("s.textproto", scenario("algorithm: \"ring\"", 1000));
  expect_refused({"run", many}, folder, {ProblemCode::kTooLarge, "Cluster.workers", 0, 0, many});
  expect_refused({"worker", "--join", "nowhere", "--worker", "0"}, folder,
                 HasSubstr("--join nowhere"));
  expect_refused({"run", many, "--timeout-seconds", "0"}, folder,
                 {ProblemCode::kTooSmall, "--timeout-seconds"});
  expect_refused({"run", many, "--transport", "rdma"}, folder,
                 {ProblemCode::kUnknownName, "--transport"});
}

}  // namespace
}  // namespace tutti::test
