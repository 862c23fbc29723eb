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

TEST(StrategyAlternatives, KeepASettingWhereItApplies) {
  std::vector<Axis> others;
  const auto made =
      alternatives("algorithm: \"pscpu\" shards: 2", {"nccl", "ring", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.fields, ElementsAre("strategy.algorithm", "strategy.shards"));
  EXPECT_THAT(made->axis.rows, ElementsAre(Row{"nccl", ""}, Row{"ring", "2"}, Row{"pscpu", "2"}));
  EXPECT_THAT(made->notes, ElementsAre(HasSubstr("strategy=nccl leaves out shards")));
}

TEST(StrategyAlternatives, UseAValueOnlyWhereItIsAccepted) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.shards=2,4"),
                           *parse_axis("--over", "workload.batch=16,32")};
  const auto made = alternatives("algorithm: \"pscpu\"", {"nccl", "ring", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->axis.rows,
              ElementsAre(Row{"nccl", ""}, Row{"ring", "2"}, Row{"ring", "4"}, Row{"pscpu", "2"}));
  ASSERT_EQ(others.size(), 1u) << "the other axis stays";
  EXPECT_THAT(others.front().fields, ElementsAre("workload.batch"));
  EXPECT_THAT(made->notes, ElementsAre(HasSubstr("\"nccl\" has no shards"),
                                       HasSubstr("more than the 2 workers")));
}

TEST(StrategyAlternatives, LeaveValuesThatNoneAcceptsToThePoints) {
  std::vector<Axis> others{*parse_axis("--over", "strategy.shards=1,64")};
  const auto made = alternatives("algorithm: \"pscpu\"", {"ring", "pscpu"}, others);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(others.size(), 1u);
  EXPECT_THAT(made->notes, IsEmpty());
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

TEST(StrategyAlternatives, RefuseUnknownAndRepeatedNames) {
  std::vector<Axis> others;
  EXPECT_THAT(alternatives("algorithm: \"ring\"", {"rings"}, others),
              test::FailsWith(test::Mistake{ProblemCode::kUnknownName, "--over"}));
  EXPECT_THAT(alternatives("algorithm: \"ring\"", {"ring", "ring"}, others),
              test::FailsWith(test::Mistake{ProblemCode::kDuplicate, "--over"}));
}

}  // namespace
}  // namespace tutti::core
