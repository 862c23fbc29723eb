#include "core/explore/strategy_alternatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Row = std::vector<std::string>;

/// Returns the alternatives for a strategy of two workers with eight GPUs each.
Expected<StrategyAlternatives> alternatives(const std::string& strategy,
                                            const std::vector<std::string>& names,
                                            std::vector<Axis>& others) {
  const BaseOfAlternatives base{
      R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "alexnet_torchvision" batch: 32 }
strategy { )" +
          strategy + " }\n",
      "s.textproto",
      {}};
  return strategy_alternatives("--over", names, base, Library(test::source_folder() + "/scenarios"),
                               others);
}

TEST(StrategyAlternatives, KeepASettingForAlgorithmsThatAcceptIt) {
  std::vector<Axis> others;
  const auto made =
      alternatives("algorithm: \"pscpu\" shards: 2", {"nccl", "ring", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.fields, ElementsAre("strategy.algorithm", "strategy.shards"));
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"nccl", ""}, Row{"ring", "2"}, Row{"pscpu", "2"}));
  EXPECT_THAT(made->notes, ElementsAre(HasSubstr("strategy=nccl is simulated without shards")));
}

TEST(StrategyAlternatives, UseAValueOnlyForAlgorithmsThatAcceptIt) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.shards=2,4"),
                           *parse_axis("--over", "strategy.launch_us=1,2")};
  const auto made = alternatives("algorithm: \"pscpu\"", {"nccl", "ring", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->axis.title, kStrategyTitle);
  EXPECT_THAT(made->axis.rows,
              ElementsAre(Row{"nccl", ""}, Row{"ring", "2"}, Row{"ring", "4"}, Row{"pscpu", "2"}));
  ASSERT_EQ(others.size(), 1u) << "the other axis stays";
  EXPECT_THAT(others.front().fields, ElementsAre("strategy.launch_us"));
  EXPECT_THAT(made->notes,
              ElementsAre(HasSubstr("strategy=nccl is simulated without shards=2, 4: "),
                          HasSubstr("strategy=pscpu is simulated without shards=4: ")));
}

TEST(StrategyAlternatives, KeepAnAlternativeThatAcceptsNoValue) {
  // No alternative accepts 4 with two workers.
  std::vector<Axis> others{*parse_axis("--over", "strategy.shards=2,4")};
  const auto made = alternatives("algorithm: \"pscpu\" shards: 2", {"nccl", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"nccl", ""}, Row{"pscpu", "2"}, Row{"pscpu", "4"}));
  // The note on the scenario's own value would repeat this one.
  ASSERT_THAT(made->notes,
              ElementsAre(HasSubstr("strategy=nccl is simulated without shards=2, 4: ")));
  EXPECT_THAT(made->notes.front(), testing::Not(HasSubstr("remove shards"))) << "no hint";

  std::vector<Axis> one{*parse_axis("--over", "strategy.shards=4")};
  const auto none = alternatives("algorithm: \"pscpu\"", {"nccl", "pscpu"}, one);
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_THAT(none->axis.rows,
              ElementsAre(Row{"nccl", ""}, Row{"nccl", "4"}, Row{"pscpu", ""}, Row{"pscpu", "4"}));
}

TEST(StrategyAlternatives, KeepValuesThatMayBeValidAtOtherPoints) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.shards=2,4"),
                           *parse_axis("--over", "cluster.workers.count=2,4")};
  const auto made = alternatives("algorithm: \"pscpu\"", {"nccl", "ring", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"nccl", ""}, Row{"ring", "2"}, Row{"ring", "4"},
                                           Row{"pscpu", "2"}, Row{"pscpu", "4"}));
}

TEST(StrategyAlternatives, KeepValuesThatNoAlgorithmAcceptsAsInvalidPoints) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.shards=1,64")};
  const auto made = alternatives("algorithm: \"pscpu\"", {"psgpu", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(others.size(), 1u);
  EXPECT_THAT(made->notes, IsEmpty());
}

TEST(StrategyAlternatives, GiveAFrameworkAnAlgorithmThatItAccepts) {
  std::vector<Axis> others;
  auto made = alternatives("algorithm: \"pscpu\"", {"pscpu", "ring", "horovod"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"pscpu", ""}, Row{"ring", ""}, Row{"ring", "{}"}));
  EXPECT_THAT(made->notes, ElementsAre("strategy=horovod uses algorithm ring"));

  made = alternatives("tensorflow { multi_worker_mirrored {} }", {"horovod"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.fields,
              ElementsAre("strategy.algorithm", "strategy.horovod", "strategy.tensorflow"));
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"nccl", "{}", ""}));
  EXPECT_THAT(made->notes, testing::Contains("strategy=horovod uses algorithm nccl"));
}

TEST(StrategyAlternatives, RefuseAFrameworkWithoutAValidAlgorithm) {
  const auto text = read_text_file(
      test::source_folder() + "/scenarios/17_parameter_server.textproto", TextSource::kAnything);
  ASSERT_TRUE(text);
  const Library library(test::source_folder() + "/scenarios");
  std::vector<Axis> others;
  EXPECT_THAT(
      strategy_alternatives("--over", {"horovod"}, {*text, "s.textproto", {}}, library, others),
      test::FailsWith(test::Mistake{ProblemCode::kConflict, "--over"}));
  // Another axis may make it valid.
  others = {*parse_axis("--over", "workload.batch=1,2")};
  EXPECT_TRUE(
      strategy_alternatives("--over", {"horovod"}, {*text, "s.textproto", {}}, library, others));
}

TEST(StrategyAlternatives, UseSettingsOfAFrameworkOnlyWithIt) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.horovod.cycle_time_ms=1,5")};
  const auto made = alternatives("algorithm: \"ring\"", {"nccl", "horovod"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.rows,
              ElementsAre(Row{"nccl", "", ""}, Row{"ring", "{}", "1"}, Row{"ring", "{}", "5"}));
}

TEST(StrategyAlternatives, ExcludeOtherAxesThatSelectAStrategy) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.algorithm=ring,nccl")};
  const auto made = alternatives("algorithm: \"ring\"", {"ring"}, others);
  EXPECT_THAT(made, test::FailsWith(test::Mistake{ProblemCode::kConflict, "--over"}));
  EXPECT_THAT(made.error().message(),
              HasSubstr("--over strategy and --over strategy.algorithm exclude each other; keep "
                        "one"));
  others = {*read_points("workload.batch,strategy.shards\n1,1\n2,1\n", "p.csv")};
  EXPECT_THAT(alternatives("algorithm: \"ring\"", {"ring"}, others),
              test::FailsWith(test::Mistake{ProblemCode::kConflict, "--over"}));
  others = {*read_points("workload.batch,run.steps\n1,1\n2,1\n", "p.csv")};
  EXPECT_TRUE(alternatives("algorithm: \"ring\"", {"ring"}, others));
}

TEST(StrategyAlternatives, TryAtMostAFewHundredValuesAndCanBeStopped) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.launch_us=1..400+1"),
                           *parse_axis("--over", "strategy.shards=1,2")};
  std::vector<double> shares;
  const BaseOfAlternatives base{R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "alexnet_torchvision" batch: 32 }
strategy { algorithm: "ring" }
)",
                                "s.textproto",
                                {}};
  const Library library(test::source_folder() + "/scenarios");
  const auto made = strategy_alternatives("--over", {"nccl", "ring"}, base, library, others,
                                          {{}, [&](double share) { shares.push_back(share); }});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(shares, (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_THAT(made->notes, testing::Contains(HasSubstr("all 400 values of strategy.launch_us")));
  ASSERT_EQ(others.size(), 1u);

  others = {*parse_axis("--over", "strategy.shards=1,2")};
  int calls = 0;
  const auto stopped = strategy_alternatives("--over", {"nccl", "ring"}, base, library, others,
                                             {[&] { return ++calls > 3; }, {}});
  EXPECT_THAT(stopped, test::FailsWith(test::Mistake{ProblemCode::kStopped, "--over"}));
}

TEST(StrategyAlternatives, CompareFrameworksWithAlgorithms) {
  std::vector<Axis> others;
  const auto made = alternatives("algorithm: \"ring\" bytes_per_pack: 25000000",
                                 {"ring", "horovod", "pytorch_ddp"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.fields, ElementsAre("strategy.algorithm", "strategy.bytes_per_pack",
                                             "strategy.horovod", "strategy.pytorch_ddp"));
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"ring", "25000000", "", ""},
                                           Row{"ring", "", "{}", ""}, Row{"ring", "", "", "{}"}));
  EXPECT_THAT(made->notes, testing::SizeIs(2));
}

TEST(StrategyAlternatives, CompareACustomAlgorithmWithOthers) {
  std::vector<Axis> others;
  // The file determines the collective, which the other alternatives must name.
  const auto made = alternatives("custom { file: \"ring\" }", {"custom", "ring", "nccl"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.fields,
              ElementsAre("strategy.algorithm", "strategy.collective", "strategy.custom"));
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"", "", "{}"}, Row{"ring", "ALL_REDUCE", ""},
                                           Row{"nccl", "ALL_REDUCE", ""}));
  const BaseOfAlternatives all_to_all{R"(
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "a" shape: 4096 } update_ms: 0 }
strategy { custom { file: "bruck" } }
)",
                                      "s.textproto",
                                      {}};
  const auto exchange =
      strategy_alternatives("--over", {"custom", "nccl"}, all_to_all,
                            Library(test::source_folder() + "/scenarios"), others);
  ASSERT_TRUE(exchange) << exchange.error().message();
  EXPECT_THAT(exchange->axis.rows,
              ElementsAre(Row{"", "", "{}", ""}, Row{"nccl", "ALL_TO_ALL", "", "true"}));
  EXPECT_FALSE(alternatives("algorithm: \"ring\"", {"custom", "nccl"}, others));
}

TEST(StrategyAlternatives, RefuseUnknownAndRepeatedNames) {
  std::vector<Axis> others;
  EXPECT_THAT(alternatives("algorithm: \"ring\"", {"rings"}, others),
              test::FailsWith(test::Mistake{ProblemCode::kUnknownName, "--over"}));
  EXPECT_THAT(alternatives("algorithm: \"ring\"", {"ring", "ring"}, others),
              test::FailsWith(test::Mistake{ProblemCode::kDuplicate, "--over"}));
}

}  // namespace
}  // namespace tutti::core
