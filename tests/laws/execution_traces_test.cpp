// A training step takes the same time after it is exported and imported again. With Chakra, the two
// times are equal to the picosecond. With GOAL, the two times are only approximately equal, because
// GOAL has no pipelining and no slots.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/export/trace_export.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"
#include "core/scenario/rewrite.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

Scenario scenario_of(const std::string& text, const std::string& path = "s.textproto") {
  auto scenario = read_scenario(text, path, test::shipped_library());
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message()) << text;
  return std::move(*scenario);
}

Time step_time(const Scenario& scenario) {
  sim::Simulator simulator(sim::Folds::kNever, sim::SkipRepeats::kNever);
  Summary summary;
  RecordOptions record;
  record.level = RecordLevel::kNone;
  const auto ran = simulator.run(scenario, record, {}, summary);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
  return summary.step_time();
}

class Exported {
 public:
  explicit Exported(const Scenario& scenario)
      : folder_(std::filesystem::temp_directory_path() /
                ("tutti_traces_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
    auto made = TraceExport::of(scenario);
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    trace_ = std::move(*made);
  }
  ~Exported() { std::filesystem::remove_all(folder_); }

  Scenario chakra(const Scenario& scenario) {
    for (std::int64_t r = 0; r < trace_->ranks(); ++r) {
      std::ofstream out(path("t." + std::to_string(r) + ".et"), std::ios::binary);
      trace_->write_chakra(r, out);
    }
    const std::string groups = trace_->chakra_groups();
    // ASTRA-sim reads the number of a group, which is at least 1, from the beginning of its name.
    for (std::size_t name = groups.find("  \""); name != std::string::npos;
         name = groups.find("  \"", name + 1))
      EXPECT_TRUE(groups[name + 3] >= '1' && groups[name + 3] <= '9') << groups;
    if (!groups.empty()) std::ofstream(path("groups.json")) << groups;
    return again(scenario, "t", groups.empty() ? "" : "groups.json");
  }
  Scenario goal(const Scenario& scenario) {
    EXPECT_EQ(trace_->why_no_goal(), "");
    std::ofstream out(path("t.goal"), std::ios::binary);
    GoalTextWriter writer(out, trace_->ranks(), "");
    for (std::int64_t r = 0; r < trace_->ranks(); ++r) writer.add(trace_->goal(r));
    out.close();
    return again(scenario, "t.goal", "");
  }

 private:
  [[nodiscard]] std::string path(const std::string& file) const {
    return (folder_ / file).string();
  }
  Scenario again(const Scenario& scenario, const std::string& trace, const std::string& groups) {
    return scenario_of(with_trace(scenario.text, scenario.file, scenario.strategy, trace, groups),
                       path("s.textproto"));
  }

  std::filesystem::path folder_;
  std::unique_ptr<TraceExport> trace_;
};

const std::string kModel =
    "workload { variable { name: \"a\" shape: 4000 forward_ms: 0.3 backward_ms: 0.7 } "
    "variable { name: \"b\" shape: 300001 forward_ms: 0.2 backward_ms: 0.9 } "
    "variable { name: \"c\" shape: 70000 forward_ms: 0.1 backward_ms: 0.31 } "
    "variable { name: \"d\" shape: 999 backward_ms: 0.123456 } ";

struct Case {
  const char* name;
  std::string text;
};

std::string cluster(int nodes, const std::string& machine = "dgx-a100") {
  return "cluster { workers { machine: \"" + machine + "\" count: " + std::to_string(nodes) +
         " } network { kind: RAILS link: \"hdr\" } }\n";
}

std::vector<Case> cases() {
  const std::string ends = "}\n";
  return {
      {"ring", cluster(2) + kModel + ends + "strategy { algorithm: \"ring\" }"},
      {"ring, packs in series, one update",
       cluster(2) + kModel + ends +
           "strategy { algorithm: \"ring\" launch: SERIAL update: AFTER_ALL launch_us: 11 }"},
      {"packs that are copied",
       cluster(2) + kModel + ends +
           "strategy { algorithm: \"halving_doubling\" bytes_per_pack: 500000 }"},
      {"packs of one concatenation",
       cluster(1) + kModel + ends + "strategy { algorithm: \"ring\" num_packs: 3 }"},
      {"several rings", cluster(2) + kModel + ends + "strategy { algorithm: \"ring\" shards: 3 }"},
      {"NCCL", cluster(2) + kModel + ends + "strategy { algorithm: \"nccl\" }"},
      {"PyTorch DDP", cluster(4) + kModel + ends +
                          "strategy { algorithm: \"nccl\" pytorch_ddp { bucket_cap_mb: 1 } }"},
      {"NCCL inside workers",
       cluster(2) + kModel + ends + "strategy { algorithm: \"nccl/halving_doubling\" }"},
      {"means", cluster(2) + kModel + ends + "strategy { algorithm: \"ring\" reduction: MEAN }"},
      {"micro-batches",
       cluster(2) + kModel + "micro_batches: 5 }\nstrategy { algorithm: \"ring\" }"},
      {"tensor parallelism",
       cluster(2) + kModel + ends +
           "strategy { algorithm: \"ring\" }\n"
           "communicator { name: \"tensor\" size: 4 splits_model: true exchange { bytes: 400000 "
           "per_forward: 3 per_backward: 4 } exchange { bytes: 80000 collective: ALL_GATHER "
           "per_forward: 2 overlaps: true } }"},
      {"half precision", cluster(2) + kModel + ends +
                             "strategy { algorithm: \"ring\" compression { type: FLOAT16 } }"},
      {"fair links", cluster(2) + kModel + ends +
                         "strategy { algorithm: \"ring\" }\n"
                         "run { network_model: FAIR }"},
      {"ideal network", cluster(2) + kModel + ends +
                            "strategy { algorithm: \"recursive_doubling\" }\n"
                            "run { network_model: IDEAL }"},
      {"no interference", cluster(2) + kModel + ends +
                              "strategy { algorithm: \"nccl\" }\n"
                              "run { interference: OFF }"},
  };
}

TEST(ExecutionTraces, TheBandFactorIsAppliedOnceToSharedCollectives) {
  const Scenario step =
      scenario_of(cluster(2) +
                  "workload { variable { name: \"a\" shape: 300000 } variable { name: \"b\" shape: "
                  "300000 } }\nstrategy { algorithm: \"nccl\" }");
  Exported exported(step);
  Scenario trace = exported.chakra(step);
  ASSERT_EQ(trace.plan.packs.size(), 2u);
  ASSERT_EQ(trace.plan.packs[0].collective, trace.plan.packs[1].collective);
  const auto before = trace.plan.collective(trace.plan.packs[0]).nccl;
  ASSERT_TRUE(before);
  ASSERT_GT(before->band.high, 1);
  ASSERT_TRUE(take_band_end(trace, BandEnd::kHigh));
  const auto after = trace.plan.collective(trace.plan.packs[0]).nccl;
  EXPECT_NEAR(static_cast<double>(after->work.count()),
              before->band.high * static_cast<double>(before->work.count()), 1);
}

TEST(ExecutionTraces, AnExportedChakraTraceTakesTheTimeOfTheStep) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Scenario scenario = scenario_of(one.text);
    Exported exported(scenario);
    const Scenario again = exported.chakra(scenario);
    ASSERT_TRUE(again.plan.graph);
    // With NCCL's own times, the difference is up to 0.8 %. The cause is unknown.
    const bool nccl = one.text.find("algorithm: \"nccl") != std::string::npos;
    const auto expected = static_cast<double>(step_time(scenario).count());
    EXPECT_NEAR(static_cast<double>(step_time(again).count()), expected,
                nccl ? 0.01 * expected : 0);
  }
}

TEST(ExecutionTraces, AnExportedGoalScheduleTakesTheTimeOfTheStep) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    Scenario scenario = scenario_of(one.text);
    Exported exported(scenario);
    const Scenario again = exported.goal(scenario);
    ASSERT_TRUE(again.plan.graph);
    // GOAL schedules contain NCCL's collectives as rings.
    simulate_as_rings(scenario);
    const auto expected = static_cast<double>(step_time(scenario).count());
    EXPECT_NEAR(static_cast<double>(step_time(again).count()) / expected, 1, 0.02);
  }
}

}  // namespace
}  // namespace tutti::core
