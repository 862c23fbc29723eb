#include "tools/python/scenario_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::python {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kText =
    "# mine\n"
    "cluster { workers { machine: \"dgx-a100\" count: 2 } workers { machine: \"cpu-host\" } }\n"
    "strategy { shards: 2  # two\n"
    "}\n";

TEST(FieldState, DescribesWrittenAndDefaultFields) {
  const auto shards = field_state(kText, "strategy.shards");
  ASSERT_TRUE(shards);
  EXPECT_EQ(shards->kind, "whole");
  EXPECT_TRUE(shards->written);
  EXPECT_EQ(shards->value, "2");
  const auto steps = field_state(kText, "run.steps");
  ASSERT_TRUE(steps);
  EXPECT_FALSE(steps->written);
  EXPECT_EQ(steps->otherwise, "3");
  const auto kind = field_state(kText, "cluster.network.kind");
  ASSERT_TRUE(kind);
  EXPECT_THAT(kind->choices, Contains("FAT_TREE"));
}

TEST(FieldState, APathSelectsAWholeRepeatedFieldOrOneElement) {
  const auto workers = field_state(kText, "cluster.workers");
  ASSERT_TRUE(workers);
  EXPECT_TRUE(workers->repeated);
  EXPECT_EQ(workers->count, 2);
  const auto second = field_state(kText, "cluster.workers[1]");
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->repeated);
  EXPECT_THAT(second->fields, Contains("machine"));
  EXPECT_EQ(field_state(kText, "cluster.workers[1].machine")->value, "cpu-host");
}

TEST(FieldState, RefusesUnknownFields) {
  const auto wrong = field_state(kText, "strategy.shard");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().problems()[0].kind.code, core::ProblemCode::kUnknownField);
  EXPECT_THAT(wrong.error().message(), HasSubstr("did you mean \"shards\"?"));
  for (const char* path : {"strategy.shards.x", "cluster.workers[x]", "cluster.workers[-1]",
                           "cluster.workers[1", "nothing"})
    EXPECT_FALSE(field_state(kText, path)) << path;
}

TEST(WithField, ChangesOnlyTheField) {
  const auto more = with_field(kText, "strategy.shards", "4");
  ASSERT_TRUE(more);
  EXPECT_THAT(*more, HasSubstr("strategy { shards: 4  # two"));
  EXPECT_THAT(*more, HasSubstr("# mine\n"));
  const auto removed = with_field(*more, "strategy.shards", "");
  ASSERT_TRUE(removed);
  EXPECT_FALSE(field_state(*removed, "strategy.shards")->written);
  EXPECT_EQ(*with_field(*removed, "strategy.shards", ""), *removed);
}

TEST(WithField, CreatesMessagesAndElements) {
  const auto text = with_field(kText, "cluster.workers[2].count", "5");
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(field_state(*text, "cluster.workers")->count, 3);
  EXPECT_FALSE(with_field(kText, "cluster.workers[9].count", "5"));
}

}  // namespace
}  // namespace tutti::python
