// Makes logs of jobs whose times are known, and compares the graphs that are inferred from them.

#include "core/import/operation_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using Kind = OperationGraph::Kind;
using testing::ElementsAre;

constexpr std::int64_t kMs = 1'000'000;

/// A job of 2 pipeline stages and 2 data-parallel ranks; rank r is stage r / 2 of data-parallel
/// rank r % 2. In each step, stage 0 computes, and sends to stage 1 in 1 ms; stage 1 computes. All
/// ranks then reduce their gradients within their stage, in 5 ms.
class Job {
 public:
  /// Computation takes 20 to 49 ms, and differs by rank and step.
  static std::int64_t compute_ms(std::int64_t rank, std::int64_t step) {
    return 20 + (rank * 7 + step * 11) % 30;
  }
  static std::int64_t step_ms(std::int64_t step) {
    std::int64_t last = 0;
    for (std::int64_t stage = 0; stage < 2; ++stage) last = std::max(last, reduced_ms(stage, step));
    return last;
  }

  static std::vector<LoggedOperation> log(std::int64_t steps) {
    std::vector<LoggedOperation> all;
    for (std::int64_t s = 0; s < steps; ++s) {
      const std::int64_t begin = s * 1000;
      for (std::int64_t rank = 0; rank < 4; ++rank) {
        const std::int64_t dp = rank % 2, stage = rank / 2;
        const auto add = [&](const char* name, std::int64_t from, std::int64_t to) {
          all.push_back({rank, dp, stage, s, name, (begin + from) * kMs, (begin + to) * kMs, 0});
        };
        const std::int64_t done = compute_ms(dp, s);
        if (stage == 0) {
          add("forward-compute", 0, done);
          add("forward-send", done, done + 1);
        } else {
          add("forward-recv", 0, done + 1);
          add("forward-compute", done + 1, done + 1 + compute_ms(rank, s));
        }
        add("grads-reduce-scatter", ready_ms(rank, s), reduced_ms(stage, s));
      }
    }
    return all;
  }

 private:
  static std::int64_t ready_ms(std::int64_t rank, std::int64_t step) {
    const std::int64_t sent = compute_ms(rank % 2, step) + 1;
    return rank < 2 ? sent : sent + compute_ms(rank, step);
  }
  static std::int64_t reduced_ms(std::int64_t stage, std::int64_t step) {
    return std::max(ready_ms(2 * stage, step), ready_ms(2 * stage + 1, step)) + 5;
  }
};

OperationGraph graph_of(const std::vector<LoggedOperation>& log) {
  auto graph = operation_graph(log);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message());
  return std::move(*graph);
}

TEST(OperationGraph, FindsMessagesAndCollectives) {
  const OperationGraph graph = graph_of(Job::log(12));
  EXPECT_EQ(graph.ranks().size(), 4u);
  std::size_t receives = 0, collectives = 0;
  for (const OperationGraph::Task& task : graph.tasks()) {
    if (task.kind == Kind::kReceive) {
      ++receives;
      ASSERT_EQ(task.partners.size(), 1u);
      const OperationGraph::Task& send = graph.tasks()[static_cast<std::size_t>(task.partners[0])];
      EXPECT_EQ(send.kind, Kind::kSend);
      EXPECT_EQ(send.rank + 2, task.rank) << "the message comes from the previous stage";
      EXPECT_EQ(task.transfer, kMs);
    }
    if (task.kind == Kind::kCollective) {
      ++collectives;
      EXPECT_EQ(task.partners.size(), 2u) << "the ranks of a stage reduce their gradients";
      EXPECT_EQ(task.transfer, 5 * kMs);
    }
  }
  EXPECT_EQ(receives, 2u);
  EXPECT_EQ(collectives, 4u);
}

TEST(OperationGraph, PredictsStepsFromTheirComputation) {
  const OperationGraph graph = graph_of(Job::log(12));
  ASSERT_EQ(graph.steps().size(), 12u);
  EXPECT_EQ(graph.inferred_from(), 6u);
  for (const OperationGraph::Step& step : graph.steps()) {
    EXPECT_EQ(step.time, Job::step_ms(step.number) * kMs);
    EXPECT_EQ(graph.step_time(step.durations), step.time) << "step " << step.number;
  }
}

/// Without stragglers, all computations take the mean time m, and a step takes m + 1 + m + 5 ms.
TEST(OperationGraph, WithoutStragglersEveryComputationTakesTheMeanTime) {
  const OperationGraph graph = graph_of(Job::log(12));
  std::int64_t sum = 0;
  for (std::int64_t s = 0; s < 12; ++s)
    for (std::int64_t rank = 0; rank < 4; ++rank) sum += Job::compute_ms(rank, s) * kMs;
  const auto all = [](const OperationGraph::Task&) { return true; };
  const auto even = graph.without_stragglers(graph.steps().front().durations, all);
  EXPECT_EQ(graph.step_time(even), 2 * (sum / 48) + 6 * kMs);
}

TEST(OperationGraph, StepsThatLackOperationsAreNotUsed) {
  std::vector<LoggedOperation> log = Job::log(12);
  const auto missing = std::find_if(
      log.begin(), log.end(), [](const LoggedOperation& o) { return o.step == 3 && o.rank == 2; });
  log.erase(missing);
  const OperationGraph graph = graph_of(log);
  EXPECT_EQ(graph.steps().size(), 11u);
  EXPECT_EQ(graph.other_steps(), 1u);
  EXPECT_THAT(test::kinds_of(operation_graph(Job::log(1))), ElementsAre("missing"));
}

TEST(OperationGraph, ClocksThatDifferByYearsAreRefused) {
  std::vector<LoggedOperation> log = Job::log(4);
  for (LoggedOperation& o : log) {
    if (o.rank == 1) o.start_ns += 2'000'000'000'000'000'000, o.end_ns += 2'000'000'000'000'000'000;
  }
  EXPECT_THAT(test::kinds_of(operation_graph(log)), ElementsAre("too-large"));
}

TEST(OperationGraph, CyclesAreRefused) {
  // Two stages that each wait for a message of the other before they send.
  std::vector<LoggedOperation> log;
  for (std::int64_t s = 0; s < 4; ++s) {
    for (std::int64_t stage = 0; stage < 2; ++stage) {
      const std::int64_t t = s * 100 * kMs;
      log.push_back({stage, 0, stage, s, "forward-recv", t, t + kMs, 0});
      log.push_back({stage, 0, stage, s, "forward-send", t + 2 * kMs, t + 3 * kMs, 0});
    }
  }
  EXPECT_THAT(test::kinds_of(operation_graph(log)), ElementsAre("conflict"));
}

// --- the format ---

Expected<std::vector<LoggedOperation>> read(const std::string& text) {
  std::vector<LoggedOperation> all;
  RecordCounts counts;
  const auto input = byte_input_of(text, "log.csv");
  const auto done = read_operation_log(
      *input, "log.csv", [&all](const LoggedOperation& o) { all.push_back(o); }, counts);
  if (!done) return tl::make_unexpected(done.error());
  EXPECT_EQ(RecordCounts::sum(counts.used()), std::ssize(all));
  return all;
}

TEST(OperationLog, ReadsColumnsByName) {
  const std::string text =
      "rank,dp_rank,stage,step,optype,start_ts,duration,seq_id,mc\r\n"
      "3,1,2,17,forward-compute,1.5,0.25,4,-1\r\n";
  EXPECT_TRUE(is_operation_log(text));
  const auto all = read(text);
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->size(), 1u);
  const LoggedOperation& o = all->front();
  EXPECT_EQ(o.rank, 3);
  EXPECT_EQ(o.dp_rank, 1);
  EXPECT_EQ(o.stage, 2);
  EXPECT_EQ(o.step, 17);
  EXPECT_EQ(o.sequence, 4);
  EXPECT_EQ(o.start_ns, 1500 * kMs);
  EXPECT_EQ(o.end_ns, 1750 * kMs);
}

TEST(OperationLog, ErrorsHavePositions) {
  const std::string header = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id\n";
  EXPECT_THAT(test::kinds_of(read("a,b\n1,2\n")), ElementsAre("missing dp_rank"));
  EXPECT_THAT(test::kinds_of(read(header + "0,0,0,1,x,0,-1,0\n")), ElementsAre("invalid duration"));
  EXPECT_THAT(test::kinds_of(read(header + "0,0,0,1,x,0,1e99,0\n")),
              ElementsAre("invalid duration"));
  EXPECT_THAT(test::kinds_of(read(header + "0,0,-3,1,x,0,1,0\n")), ElementsAre("invalid rank"));
  const auto cut = read(header + "0,0,0,1,x,0,1,0\n0,0,0\n");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().problems().front().where.line, 3);
  for (std::size_t length = 0; length < header.size() + 20; ++length) {
    const auto part = read((header + "0,0,0,1,x,0,1,0\n").substr(0, length));
    EXPECT_TRUE(part || !part.error().problems().empty()) << length;
  }
}

}  // namespace
}  // namespace tutti::core
