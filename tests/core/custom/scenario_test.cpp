// Scenarios with algorithms from files: they are read, rejected, planned and simulated like those
// with built-in algorithms.

#include <gtest/gtest.h>

#include "core/scenario/custom.h"
#include "core/scenario/rewrite.h"
#include "core/strategy/collective_bound.h"
#include "tests/core/custom/shipped.h"
#include "tests/sim/simulated.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using sim::Folds;
using test::at;
using test::FailsWith;
using testing::AllOf;
using testing::HasSubstr;
using Kind = Library::Kind;

std::string scenario_with(const std::string& strategy, int workers = 4,
                          const std::string& elements = "65536") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"dgx-a100\" count: {} }} network {{ kind: RAILS latency_us: "
      "2 }} }}\n"
      "workload {{ variable {{ name: \"buffer\" shape: {} }} update_ms: 0 }}\n"
      "strategy {{ {} }}\n"
      "run {{ steps: 1 }}\n",
      workers, elements, strategy);
}

/// Reads a scenario with an algorithm file in its own folder, and with the shipped files.
Expected<Scenario> read_with(const std::string& scenario, const std::string& algorithm) {
  const Library shipped(test::source_folder() + "/scenarios");
  std::vector<Library::File> files{
      {Kind::kAlgorithm, "a.tutti-algorithm", "a.tutti-algorithm", algorithm}};
  if (const auto machine = shipped.read(Kind::kMachine, "dgx-a100", ""); machine && *machine)
    files.push_back(**machine);
  return read_scenario(scenario, "s.textproto", Library(files));
}

const std::string kOurs = "custom { file: \"a.tutti-algorithm\" }";

TEST(CustomInScenario, AlgorithmIsReadFromItsFile) {
  const auto scenario = read_with(scenario_with(kOurs), test::text_of_algorithm("ring"));
  ASSERT_TRUE(scenario) << scenario.error().message();
  ASSERT_TRUE(scenario->strategy.custom);
  EXPECT_EQ(describe(scenario->strategy), "ring of a.tutti-algorithm");
  EXPECT_EQ(scenario->plan.collective(scenario->plan.packs.front()).schedule->ranks(), 32);
}

TEST(CustomInScenario, RefusesAlgorithmsThatDoNotFitTheScenario) {
  const auto fails = [](const std::string& strategy, const std::string& mark, ProblemCode code,
                        const std::string& field) {
    const std::string text = scenario_with(strategy);
    const auto scenario = read_with(text, test::text_of_algorithm("ring"));
    ASSERT_FALSE(scenario) << strategy;
    EXPECT_THAT(scenario, FailsWith(at(text, mark, code, field)));
  };
  fails("algorithm: \"ring\" " + kOurs, "\"ring\"", ProblemCode::kConflict, "Strategy.algorithm");
  fails("custom { }", "custom ^{", ProblemCode::kMissing, "Custom.file");
  fails("custom { file: \"b.tutti-algorithm\" }", "\"b.tutti", ProblemCode::kUnknownName,
        "Custom.file");
  fails("custom { file: \"a.tutti-algorithm\" set: \"slices\" }", "\"slices\"",
        ProblemCode::kInvalid, "Custom.set");
  fails("custom { file: \"a.tutti-algorithm\" set: \"slices=2\" }", "\"slices=2\"",
        ProblemCode::kUnknownName, "Custom.set");
  fails("collective: ALL_GATHER " + kOurs, "custom ^{", ProblemCode::kConflict, "Strategy.custom");
  fails("shards: 2 " + kOurs, "2 custom", ProblemCode::kConflict, "Strategy.shards");
  fails("root: 2 " + kOurs, "2 custom", ProblemCode::kUnused, "Strategy.root");
}

TEST(CustomInScenario, StagesOfATwoLevelAlgorithmCannotUseIt) {
  const auto error_of = [](const std::string& text) {
    const auto scenario = read_with(text, test::text_of_algorithm("ring"));
    return scenario ? "" : scenario.error().message();
  };
  EXPECT_THAT(error_of(scenario_with("algorithm: \"nccl/a.tutti-algorithm\"")),
              HasSubstr("cannot be one half of a two-level algorithm: describe both levels"));
  EXPECT_THAT(error_of(scenario_with("algorithm: \"nccl/swing\"")), HasSubstr("one half of"));
  EXPECT_THAT(error_of(scenario_with("algorithm: \"a.tutti-algorithm\"")),
              HasSubstr("set custom { file"));
  const std::string exchange = "exchange { bytes: 4096 per_forward: 1 }";
  const auto with_communicator = [&](const std::string& fields) {
    return error_of("communicator { name: \"t\" size: 8 " + fields + " }\n" + scenario_with(kOurs));
  };
  EXPECT_THAT(with_communicator(exchange),
              AllOf(HasSubstr("\"a.tutti-algorithm\" spans all replicas"),
                    HasSubstr("set the communicator's algorithm to one of ring")));
  EXPECT_THAT(with_communicator("algorithm: \"b.tutti-algorithm\" " + exchange),
              HasSubstr("\"b.tutti-algorithm\" spans all replicas"));
  EXPECT_EQ(with_communicator("algorithm: \"ring\" " + exchange), "");
  EXPECT_THAT(with_communicator("algorithm: \"ring\" splits_model: true"),
              HasSubstr("as the strategy's algorithm"));
}

TEST(CustomInScenario, ErrorsOfItsFileHavePositionsInTheFile) {
  const auto wrong = [](const std::string& algorithm) {
    const auto scenario = read_with(scenario_with(kOurs), algorithm);
    return scenario ? "" : test::placed(scenario.error().problems());
  };
  EXPECT_EQ(wrong("collective all_reduce chunks 1 lane { send data[0] }"), "1:52 syntax");
  EXPECT_EQ(wrong("collective all_reduce chunks 1 lane { send data[0] to 8 / rank }"),
            "1:57 invalid");
  EXPECT_EQ(wrong("require ranks == 3 \"three\" collective all_reduce chunks 1 lane { }"),
            "1:1 conflict");
}

TEST(CustomInScenario, TheFileDeterminesTheCollective) {
  const auto scenario = read_with(scenario_with(kOurs), test::text_of_algorithm("bruck"));
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->strategy.collective, CollectiveKind::kAllToAll);
  EXPECT_TRUE(scenario->strategy.out_of_place);
}

std::optional<Time> simulated(const Scenario& scenario, Folds folds) {
  Summary summary;
  sim::Simulator simulator(folds);
  const auto ran = simulator.run(scenario, {}, {}, summary);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
  if (!ran || summary.steps().empty()) return std::nullopt;
  return summary.steps().front().end - summary.steps().front().start;
}

TEST(CustomInScenario, TheShippedRingTakesAsLongAsTheBuiltInRing) {
  for (const char* elements : {"65536", "1000", "7"}) {
    const auto built_in =
        read_with(scenario_with("algorithm: \"ring\" merging: CONCAT", 4, elements), "");
    const auto written = read_with(scenario_with(kOurs + " merging: CONCAT", 4, elements),
                                   test::text_of_algorithm("ring"));
    ASSERT_TRUE(built_in && written);
    EXPECT_EQ(simulated(*built_in, Folds::kNever), simulated(*written, Folds::kNever)) << elements;
  }
}

TEST(CustomInScenario, FoldingDoesNotChangeTheTime) {
  for (const char* name :
       {"ring", "torus_2d", "hierarchical_overlap", "bidirectional_ring", "rabenseifner"}) {
    const auto scenario = read_with(scenario_with(kOurs, 8), test::text_of_algorithm(name));
    ASSERT_TRUE(scenario) << scenario.error().message();
    EXPECT_EQ(simulated(*scenario, Folds::kAlways), simulated(*scenario, Folds::kNever)) << name;
  }
}

/// The algorithm on nodes with NVSwitches that add and multicast.
Expected<Scenario> on_h100(const std::string& algorithm, int workers) {
  const Library shipped(test::source_folder() + "/scenarios");
  std::vector<Library::File> files{
      {Kind::kAlgorithm, "a.tutti-algorithm", "a.tutti-algorithm", algorithm}};
  if (const auto machine = shipped.read(Kind::kMachine, "hgx-h100", ""); machine && *machine)
    files.push_back(**machine);
  std::string text = scenario_with(kOurs + " staging: DIRECT", workers);
  text.replace(text.find("dgx-a100"), 8, "hgx-h100");
  return read_scenario(text, "s.textproto", Library(files));
}

TEST(CustomInScenario, SwitchesInsideANodeReduceAndMulticast) {
  for (const int workers : {1, 2, 4}) {
    const auto scenario = on_h100(test::text_of_algorithm("in_switch"), workers);
    ASSERT_TRUE(scenario) << scenario.error().message();
    const auto time = simulated(*scenario, Folds::kNever);
    ASSERT_TRUE(time);
    const Collective& planned = scenario->plan.collective(scenario->plan.packs.front());
    EXPECT_GE(*time, collective_bound(*scenario->cluster, planned.kind, 0, planned.bytes(),
                                      scenario->run.network_model, false)
                         .time);
    if (workers > 1) {
      EXPECT_EQ(time, simulated(*scenario, Folds::kAlways)) << workers;
    }
    const auto ring = on_h100(test::text_of_algorithm("ring"), workers);
    ASSERT_TRUE(ring);
    EXPECT_LT(*time, *simulated(*ring, Folds::kNever)) << workers;
  }
}

TEST(CustomInScenario, RefusesSwitchOperationsThatNoSwitchSupports) {
  const auto refused = [](const Expected<Scenario>& scenario) {
    return scenario ? "" : test::placed(scenario.error().problems());
  };
  // An NVSwitch of a DGX A100 neither adds nor multicasts.
  EXPECT_EQ(refused(read_with(scenario_with(kOurs), test::text_of_algorithm("in_switch"))),
            "24:3 unsupported");
  const auto with = [](const std::string& step) {
    return "collective all_reduce chunks ranks lane {\n  " + step + "\n}";
  };
  EXPECT_EQ(refused(on_h100(with("multicast data[0] to 0 count ranks"), 2)), "2:3 unsupported");
  EXPECT_EQ(refused(on_h100(with("reduce data[0] across 4 count gpus"), 2)), "2:3 unsupported");
  EXPECT_EQ(refused(on_h100(with("reduce data[0] across node * gpus count 2"), 2)),
            "2:3 unsupported");
  EXPECT_EQ(refused(on_h100(with("reduce data[0] across node * gpus count gpus"), 2)), "");
  const auto why = [&](const std::string& step) {
    const auto scenario = on_h100(with(step), 2);
    return scenario ? "" : scenario.error().message();
  };
  EXPECT_THAT(why("multicast data[0] to 0 count ranks"),
              HasSubstr("send separate messages to the ranks of other"));
  EXPECT_THAT(why("reduce data[0] across 0 count nodes step gpus"),
              AllOf(HasSubstr("ranks 0 to 8 (step 8)"), HasSubstr("reduce within each node")));
}

TEST(CustomInScenario, RefusesTooManyDifferentMulticastGroups) {
  const auto scenario = on_h100(
      "collective all_reduce chunks 1 lane { for i from 0 to 9000000 { multicast data[0] to node * "
      "gpus count 1 + i % gpus } }",
      1);
  ASSERT_FALSE(scenario);
  EXPECT_EQ(test::placed(scenario.error().problems()), "0:0 too-large");
  // Rounds with the same groups are checked once.
  EXPECT_TRUE(on_h100(
      "collective all_reduce chunks 1 lane { for i from 0 to 9000000 { multicast data[0] to node * "
      "gpus count gpus } }",
      1));
}

TEST(CustomInScenario, RealRunsRefuseToReduceInSwitches) {
  const auto scenario = on_h100(test::text_of_algorithm("in_switch"), 1);
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_TRUE(prove_custom(*scenario, CustomProof::kQuick));
  const auto proved = prove_custom(*scenario, CustomProof::kWhole);
  ASSERT_FALSE(proved);
  EXPECT_EQ(test::placed(proved.error().problems()), "26:3 unsupported Custom");
}

TEST(CustomInScenario, TheScenarioChoosesTheCollectiveOfForestCollTrees) {
  const auto tree = [](int root, int other) {
    return fmt::format("<tree root=\"{0}\" nchunks=\"1\"><send src=\"{0}\" dst=\"{1}\"/></tree>",
                       root, other);
  };
  const std::string trees = "<Algo nchunkspernode=\"1\">" + tree(0, 1) + tree(1, 0) + "</Algo>";
  std::string text = scenario_with("collective: ALL_REDUCE " + kOurs, 1);
  text.replace(text.find("count: 1"), 8, "replicas: 2");
  const auto scenario = read_with(text, trees);
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->strategy.collective, CollectiveKind::kAllReduce);
  EXPECT_TRUE(prove_custom(*scenario, CustomProof::kWhole));
  // The default of the field is an explicit choice too.
  const std::string buffer = with_one_buffer(scenario->text, "s.textproto", {.elements = 64});
  EXPECT_THAT(buffer, HasSubstr("collective: ALL_REDUCE"));
  const auto again = read_with(buffer, trees);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->strategy.collective, CollectiveKind::kAllReduce);
  // A mistake elsewhere in the scenario is the only one that is reported.
  std::string mistake = text;
  mistake.replace(mistake.find("update_ms: 0"), 12, "update_ms: -1");
  const auto wrong = read_with(mistake, trees);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().problems().size(), 1u) << wrong.error().message();
  text.replace(text.find("ALL_REDUCE"), 10, "ALLTOALL");
  EXPECT_FALSE(read_with(text, trees));
}

TEST(CustomInScenario, WrongAlgorithmsAreNotSimulated) {
  const auto refused = [](const std::string& algorithm) {
    const auto scenario = read_with(scenario_with(kOurs), algorithm);
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
    Summary summary;
    const auto ran = sim::Simulator(Folds::kNever).run(*scenario, {}, {}, summary);
    EXPECT_FALSE(ran);
    return ran ? "" : test::placed(ran.error().problems());
  };
  EXPECT_EQ(refused(test::text_of_algorithm("wrong_ring")), "0:0 invalid Custom");
  EXPECT_EQ(refused("collective all_reduce chunks 1\nlane {\n  receive data[0] from rank - 1\n"
                    "  send data[0] to rank + 1\n}"),
            "3:3 invalid Custom");
  EXPECT_EQ(
      refused("collective all_reduce chunks 1 scratch 1\nlane {\n  copy scratch[0] to data[0]\n}"),
      "3:3 invalid Custom");
}

TEST(CustomInScenario, ADeadlockTooLargeToProveIsARunError) {
  const auto scenario =
      read_with(scenario_with(kOurs),
                "collective all_reduce chunks 1 lane {\n"
                "for i from 1 to 5000 { send data[0] to rank + 1 receive data[0] from rank - 1 }\n"
                "receive data[0] from rank - 1\n}");
  ASSERT_TRUE(scenario) << scenario.error().message();
  Summary summary;
  const auto ran = sim::Simulator(Folds::kNever).run(*scenario, {}, {}, summary);
  ASSERT_FALSE(ran);
  EXPECT_EQ(test::placed(ran.error().problems()), "0:0 invalid Custom");
}

}  // namespace
}  // namespace tutti::core
