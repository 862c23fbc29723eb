// Simulates execution traces (GOAL and Chakra) on a cluster with round figures, and compares the
// step times with closed forms.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/formats/chakra.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::sim {
namespace {

using core::Expected;
using core::ProblemCode;
using core::Scenario;
using core::Summary;
using core::Time;

/// Returns a cluster of hosts with one CPU. A message takes 3 µs, plus 1 µs for each 4 kB (ports of
/// 4 GB/s).
std::string cluster(int workers) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} network {{ kind: ONE_SWITCH latency_us: 3 "
      "}} machine {{ name: \"m\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 1000000 "
      "reduce_gb_per_s: 1000000 }} nic {{ name: \"nic0\" bandwidth_gb_per_s: 4 }} link {{ from: "
      "\"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 4 latency_us: 0 }} }} }}\n",
      workers);
}

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("tutti_sim_traces_{}_{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& file) const {
    return (path_ / file).string();
  }

 private:
  std::filesystem::path path_;
};

class ExecutionTraceRuns : public testing::Test {
 protected:
  Expected<Scenario> read(const std::string& workload, int workers,
                          const std::string& rest = "strategy { algorithm: \"ring\" }") {
    const core::Library& library = test::shipped_library();
    return core::read_scenario(cluster(workers) + "workload { " + workload + " }\n" + rest,
                               folder_ / "s.textproto", library);
  }
  Expected<Scenario> goal(const std::string& text, int workers, const std::string& rest = "",
                          const std::string& more = "") {
    std::ofstream(folder_ / "t.goal") << text;
    return read("execution_trace { path: \"t.goal\" " + more + " }", workers,
                std::string("strategy { algorithm: \"ring\" staging: DIRECT }\n") +
                    (rest.find("run {") == std::string::npos ? "run { steps: 1 }\n" : "") + rest);
  }

  static Summary run(const Scenario& scenario) {
    Simulator simulator;
    Summary summary;
    core::RecordOptions record;
    const auto ran = simulator.run(scenario, record, {}, summary);
    EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
    return summary;
  }
  Time step_of(const Expected<Scenario>& scenario) {
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
    return scenario ? run(*scenario).step_time() : Time();
  }

  Folder folder_;
};

std::string ranks(int count, const std::string& first, const std::string& others = "") {
  std::string text = fmt::format("num_ranks {}\nrank 0 {{\n{}}}\n", count, first);
  for (int r = 1; r < count; ++r) text += fmt::format("rank {} {{\n{}}}\n", r, others);
  return text;
}

TEST_F(ExecutionTraceRuns, ComputationsOfAStreamRunOneAfterTheOther) {
  EXPECT_EQ(step_of(goal(ranks(1, "calc 1000\ncalc 500\n"), 1)).count(), 1'500'000);
  EXPECT_EQ(step_of(goal(ranks(1, "calc 1000\ncalc 500 cpu 1\n"), 1)).count(), 1'000'000);
  EXPECT_EQ(step_of(goal(ranks(1, "a: calc 1000\nb: calc 500 cpu 1\nb requires a\n"), 1)).count(),
            1'500'000);
}

/// b starts when a starts, and a starts after c, which is on the same stream.
TEST_F(ExecutionTraceRuns, AComputationStartsWhenItsStreamIsFree) {
  const std::string text = "c: calc 300\na: calc 1000\nb: calc 2000 cpu 1\nb irequires a\n";
  EXPECT_EQ(step_of(goal(ranks(1, text), 1)).count(), 2'300'000);
}

TEST_F(ExecutionTraceRuns, AMessageTakesLatencyAndBandwidth) {
  const std::string text = ranks(2, "send 4000b to 1 tag 1\n", "recv 4000b from 0 tag 1\n");
  const Time one = step_of(goal(text, 2));
  EXPECT_EQ(one.count(), 4'000'000) << "3 µs and 4000 B / (4 GB/s)";
  const std::string two = ranks(2, "send 4000b to 1 tag 1\nsend 4000b to 1 tag 1\n",
                                "recv 4000b from 0 tag 1\nrecv 4000b from 0 tag 1\n");
  EXPECT_EQ(step_of(goal(two, 2)).count(), 5'000'000) << "the port serves one after the other";
}

/// The message arrives at 4 µs, even if its receive is posted later.
TEST_F(ExecutionTraceRuns, MessagesDoNotWaitForTheirReceives) {
  const auto late = [](int ns) {
    return ranks(2, "a: send 4000b to 1 tag 1\nb: calc 100\nb requires a\n",
                 fmt::format("c: calc {}\na: recv 4000b from 0 tag 1\na requires c\nb: calc 100\n"
                             "b requires a\n",
                             ns));
  };
  EXPECT_EQ(step_of(goal(late(1000), 2)).count(), 4'100'000);
  EXPECT_EQ(step_of(goal(late(9000), 2)).count(), 9'100'000);
}

/// A token travels around the ring. Each hop takes a message and a computation.
TEST_F(ExecutionTraceRuns, ATokenPassesAroundARing) {
  std::string text = "num_ranks 5\n";
  for (int r = 0; r < 5; ++r) {
    text +=
        fmt::format("rank {} {{\na: {} 8000b {} {} tag 3\nb: {} 8000b {} {} tag 3\nc: calc 700\n",
                    r, r == 0 ? "send" : "recv", r == 0 ? "to" : "from", r == 0 ? 1 : r - 1,
                    r == 0 ? "recv" : "send", r == 0 ? "from" : "to", r == 0 ? 4 : (r + 1) % 5);
    text += r == 0 ? "b requires a\nc requires b\n}\n" : "c requires a\nb requires c\n}\n";
  }
  EXPECT_EQ(step_of(goal(text, 5)).count(), 5 * (5'000'000 + 700'000));
}

TEST_F(ExecutionTraceRuns, ReceivesFromAnyRankTakeTheFirstMessage) {
  const std::string text =
      "num_ranks 3\nrank 0 {\na: recv 4000b from -1 tag -1\nb: recv 4000b from -1 tag 7\n"
      "b requires a\nc: calc 1000\nc requires a\n}\n"
      "rank 1 {\nd: calc 5000\ns: send 4000b to 0 tag 7\ns requires d\n}\n"
      "rank 2 {\nsend 4000b to 0 tag 6\n}\n";
  EXPECT_EQ(step_of(goal(text, 3)).count(), 9'000'000);
}

TEST_F(ExecutionTraceRuns, StepsRepeatTheTrace) {
  const auto scenario = goal(ranks(2, "a: calc 1000\nb: send 4000b to 1 tag 1\nb requires a\n",
                                   "recv 4000b from 0 tag 1\n"),
                             2, "run { steps: 4 }");
  ASSERT_TRUE(scenario);
  const Summary summary = run(*scenario);
  ASSERT_EQ(summary.steps().size(), 4U);
  EXPECT_EQ((summary.steps()[0].end - summary.steps()[0].start).count(), 5'000'000);
}

TEST_F(ExecutionTraceRuns, ComputationCanBeScaled) {
  EXPECT_EQ(step_of(goal(ranks(1, "calc 1000\n"), 1, "", "compute_scale: 2.5")).count(), 2'500'000);
}

TEST_F(ExecutionTraceRuns, AStragglerDelaysItsReceivers) {
  const std::string text = ranks(2, "a: calc 1000\nb: send 4000b to 1 tag 1\nb requires a\n",
                                 "recv 4000b from 0 tag 1\n");
  EXPECT_EQ(step_of(goal(text, 2, "conditions { slow { worker: 0 slowdown: 3 } }")).count(),
            7'000'000);
}

// --- Chakra ---

core::ChakraNode node(std::uint64_t id, core::ChakraNode::Type type, std::int64_t size,
                      std::vector<std::uint64_t> after = {}, const std::string& group = "") {
  core::ChakraNode one;
  one.id = id;
  one.name = "n" + std::to_string(id);
  one.type = type;
  one.on_cpu = false;
  (type == core::ChakraNode::Type::kCompute ? one.duration_us : one.bytes) = size;
  one.data_dependencies = std::move(after);
  one.group = group;
  return one;
}
using Type = core::ChakraNode::Type;

void write(const Folder& folder, const std::vector<std::vector<core::ChakraNode>>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::ofstream out(folder / fmt::format("t.{}.et", r), std::ios::binary);
    core::ChakraWriter writer(out, {"0.0.4", {}});
    for (const core::ChakraNode& one : ranks[r]) writer.add(one);
  }
}

/// The ring all-reduce of 4 ranks has 6 rounds with a quarter of the buffer each.
TEST_F(ExecutionTraceRuns, CollectivesTakeTheTimeOfTheAlgorithm) {
  write(folder_, {4, {node(1, Type::kCompute, 10), node(2, Type::kCollective, 16'000, {1})}});
  const auto scenario = read("execution_trace { path: \"t\" }", 4,
                             "strategy { algorithm: \"ring\" staging: DIRECT }");
  EXPECT_NEAR(static_cast<double>(step_of(scenario).count()), 10e6 + 6 * 4e6, 100)
      << "additions take some ps";
  ASSERT_EQ(scenario->plan.packs.size(), 1U);
}

/// A group need not be part of a partition of the ranks: {3, 1, 0} in this order, while rank 2
/// computes.
TEST_F(ExecutionTraceRuns, AnyRanksMayFormAGroup) {
  std::ofstream(folder_ / "groups.json") << "{\"odd\": [3, 1, 0]}";
  const core::ChakraNode gather = node(1, Type::kCollective, 12'000, {}, "odd");
  write(folder_, {{gather}, {gather}, {node(1, Type::kCompute, 50)}, {gather}});
  const auto scenario = read("execution_trace { path: \"t\" groups: \"groups.json\" }", 4,
                             "strategy { algorithm: \"ring\" staging: DIRECT }");
  ASSERT_TRUE(scenario) << scenario.error().message();
  const Summary summary = run(*scenario);
  EXPECT_EQ(summary.step_time().count(), 50'000'000);
  const core::PackRecord pack = summary.last_packs().front();
  EXPECT_NEAR(static_cast<double>((pack.end - pack.first_start).count()), 4 * 4e6, 100)
      << "4 rounds of a third";
}

TEST_F(ExecutionTraceRuns, ErrorsHavePositions) {
  const auto kinds = [&](const std::string& workload, const std::string& rest = "") {
    return test::kinds_of(
        read(workload, 2, rest.empty() ? "strategy { algorithm: \"ring\" }" : rest));
  };
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(kinds("execution_trace { }"), Kinds{"missing ExecutionTrace.path"});
  EXPECT_EQ(kinds("execution_trace { path: \"none\" }"), Kinds{"missing ExecutionTrace.path"});
  EXPECT_EQ(kinds("execution_trace { path: \"x\" compute_scale: 0 }"),
            Kinds{"too-small ExecutionTrace.compute_scale"});
  EXPECT_EQ(kinds("execution_trace { path: \"none\" } batch: 3"), Kinds{"unused Workload.batch"});
  std::ofstream(folder_ / "t.goal") << ranks(2, "calc 5\n", "calc 5\n");
  EXPECT_EQ(kinds("execution_trace { path: \"t.goal\" groups: \"g\" }"),
            Kinds{"unused ExecutionTrace.groups"});
  EXPECT_EQ(kinds("execution_trace { path: \"t.goal\" }",
                  "strategy { algorithm: \"nccl\" pytorch_ddp { } }")
                .front(),
            "conflict Scenario.strategy");
  std::ofstream(folder_ / "three.goal") << ranks(3, "calc 5\n", "calc 5\n");
  EXPECT_EQ(kinds("execution_trace { path: \"three.goal\" }"),
            Kinds{"conflict ExecutionTrace.path"});
  std::ofstream(folder_ / "other.goal") << "hello";
  EXPECT_EQ(kinds("execution_trace { path: \"other.goal\" }"),
            Kinds{"invalid ExecutionTrace.path"});
  EXPECT_EQ(kinds("execution_trace { path: \"t.goal\" }"), Kinds{});
}

}  // namespace
}  // namespace tutti::sim
