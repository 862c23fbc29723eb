// Variables with synchronization=ON_READ, which replicas keep separately. The variables are
// combined only when a checkpoint is written. The tests check the bytes and the time of the
// combination.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/scenario/scenario.h"
#include "core/schedule/checker.h"
#include "core/timeline/timeline.h"
#include "sim/collectives/collective_run.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
using core::Pack;
using core::PackPhase;
using core::Time;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kVariables =
    "on_read { name: \"mean\" shape: 64 aggregation: MEAN count: 2 } on_read { name: \"total\" "
    "data_type: INT64 "
    "aggregation: SUM } "
    "on_read { name: \"seed\" shape: 4096 aggregation: ONLY_FIRST_REPLICA }";

core::Expected<core::Scenario> read(const std::string& workers, const std::string& strategy,
                                    const std::string& run,
                                    const std::string& variables = kVariables) {
  return core::read_scenario(
      fmt::format("cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 5 }} }}\nworkload {{ "
                  "variable {{ name: \"v\" shape: 1024 }} "
                  "forward_ms: 1 backward_ms: 2 {} }}\nstrategy {{ {} }}\nrun {{ {} }}\n",
                  workers, variables, strategy, run),
      "f", test::shipped_library());
}
core::Scenario scenario(const std::string& workers, const std::string& strategy,
                        const std::string& run, const std::string& variables = kVariables) {
  auto made = read(workers, strategy, run, variables);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  return made ? std::move(*made) : core::Scenario{};
}

std::vector<std::string> checkpoint(const core::Scenario& s) {
  std::vector<std::string> texts;
  for (const Pack& pack : s.plan.packs) {
    EXPECT_EQ(core::check(*s.plan.collective(pack).schedule, s.plan.collective(pack).contract()),
              std::vector<core::Violation>{});
    if (pack.phase != PackPhase::kCheckpoint) continue;
    texts.push_back(fmt::format("{} {} of {} to {}", s.workload.on_read[pack.payload.on_read].name,
                                to_string(core::reduction_of(s.strategy, pack)),
                                s.plan.collective(pack).elements,
                                s.plan.collective(pack).kind == CollectiveKind::kReduce
                                    ? fmt::format("rank {}", s.plan.collective(pack).root)
                                    : "all"));
  }
  return texts;
}

struct Steps : core::NullSink {
  std::vector<core::StepRecord> steps;
  std::vector<core::PackRecord> packs;
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void pack(const core::PackRecord& pack) override { packs.push_back(pack); }
};
Steps run(const core::Scenario& s) {
  Steps steps;
  EXPECT_TRUE(sim::Simulator().run(s, {}, {}, steps));
  return steps;
}

TEST(Checkpoint, WorkersReduceMeanVariablesAndOthersAreReadFromTheFirstReplica) {
  const core::Scenario s =
      scenario("workers { machine: \"dgx1-v100\" count: 2 }",
               "tensorflow { multi_worker_mirrored { communication_options {} } } reduction: SUM",
               "checkpoint_every: 2");
  EXPECT_THAT(checkpoint(s), ElementsAre("mean_0 mean of 64 to all", "mean_1 mean of 64 to all",
                                         "total sum of 1 to all"));
}

TEST(Checkpoint, ReplicasOfOneWorkerAreReducedOnItsCpu) {
  const core::Scenario s = scenario("workers { machine: \"dgx1-v100\" replicas: 4 }",
                                    "tensorflow { mirrored {} }", "checkpoint_every: 1");
  EXPECT_THAT(checkpoint(s),
              ElementsAre("mean_0 mean of 64 to rank 4", "mean_1 mean of 64 to rank 4",
                          "total sum of 1 to rank 4"));
}

/// With two identical replicas, every second step takes longer by the sum of the times that the
/// checkpoint's packs take alone.
TEST(Checkpoint, LengthensItsStepsByTheSumOfItsPacks) {
  const std::string workers = "workers { machine: \"dgx1-v100\" count: 2 replicas: 1 }";
  const core::Scenario s =
      scenario(workers, "algorithm: \"ring\" launch_us: 0", "steps: 4 checkpoint_every: 2");
  Time extra;
  for (const Pack& pack : s.plan.packs) {
    if (pack.phase == PackPhase::kCheckpoint)
      extra += sim::run_alone(s.plan.collective(pack), core::NetworkModel::kFifo).end;
  }
  ASSERT_GT(extra, Time());
  const Steps with = run(s);
  const Steps without = run(scenario(workers, "algorithm: \"ring\" launch_us: 0", "steps: 4", ""));
  ASSERT_EQ(with.steps.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const Time took = with.steps[i].end - with.steps[i].start,
               usual = without.steps[i].end - without.steps[i].start;
    EXPECT_EQ(took, i % 2 == 1 ? usual + extra : usual) << i;
    const auto packs = std::count_if(
        with.packs.begin(), with.packs.end(),
        [&](const core::PackRecord& p) { return p.step == static_cast<std::int32_t>(i); });
    EXPECT_EQ(packs, i % 2 == 1 ? 4 : 1) << i;
  }
}

/// The gradients of each entry are planned separately, too.
TEST(Checkpoint, IsWrittenOnceWithTwoEntriesOfASpec) {
  const core::Scenario s = scenario(
      "workers { machine: \"dgx1-v100\" count: 2 }",
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:2k:xring\" } } }",
      "checkpoint_every: 1",
      "variable { name: \"w\" shape: 64 } on_read { name: \"total\" aggregation: SUM }");
  EXPECT_THAT(checkpoint(s), ElementsAre(HasSubstr("total")));
}

/// Dense gradients are planned separately, but a checkpoint stores the variables of the whole plan.
TEST(Checkpoint, IsWrittenOnceWithSparseGradients) {
  const core::Scenario s = scenario("workers { machine: \"dgx1-v100\" count: 2 }",
                                    "algorithm: \"ring\"", "checkpoint_every: 1",
                                    std::string(kVariables) +
                                        " variable { name: \"embedding\" shape: 100 shape: 8 } "
                                        "sparse_gradient { variable: \"embedding\" "
                                        "rows_per_step: 6 }");
  EXPECT_THAT(checkpoint(s), ElementsAre("mean_0 mean of 64 to all", "mean_1 mean of 64 to all",
                                         "total sum of 1 to all"));
  EXPECT_EQ(s.plan.packs.back().phase, PackPhase::kCheckpoint) << "they come last";
  EXPECT_TRUE(s.plan.notes.has("checkpoint.saves"));
}

TEST(Checkpoint, RefusesInvalidSettings) {
  const auto wrong = [](const std::string& workers, const std::string& strategy,
                        const std::string& steps, const std::string& variables = kVariables) {
    return test::kinds_of(read(workers, strategy, steps, variables));
  };
  const std::string one = "workers { machine: \"dgx1-v100\" }";
  EXPECT_THAT(wrong(one, "tensorflow { mirrored {} }", ""), ElementsAre("missing OnReadVariable"));
  EXPECT_THAT(wrong(one, "tensorflow { mirrored {} }", "checkpoint_every: 0"),
              ElementsAre("too-small Run.checkpoint_every"));
  EXPECT_THAT(
      wrong(one, "tensorflow { mirrored {} }", "checkpoint_every: 1", "on_read { name: \"a\" }"),
      ElementsAre("missing OnReadVariable.aggregation"));
  EXPECT_THAT(wrong(one, "tensorflow { central_storage {} }", "checkpoint_every: 1"),
              ElementsAre("conflict Scenario"));
}

TEST(Checkpoint, ReportsThatNoVariableIsReduced) {
  const core::Scenario s =
      scenario("workers { machine: \"dgx1-v100\" }", "tensorflow { mirrored {} }",
               "checkpoint_every: 2", "on_read { name: \"a\" aggregation: ONLY_FIRST_REPLICA }");
  EXPECT_TRUE(checkpoint(s).empty());
  EXPECT_TRUE(s.plan.notes.has("checkpoint.empty"));
}

}  // namespace
}  // namespace tutti
