// Imports flows of TE-CCL, which is an all-gather of whole chunks.

#include <gtest/gtest.h>

#include "core/schedule/checker.h"
#include "core/schedule/rounds.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::algorithm_of;
using test::placed;

/// Returns a schedule for three GPUs with the numbers 1, 2 and 5, in which GPU 2 lies between the
/// other two.
std::string line_of_three(const std::string& more = "") {
  return "{\"3-Epochs_Required\": 3, \"7-Flows\": [\n"
         "\"Chunk 0 from 1 traveled over 1->2 in epoch 0\",\n"
         "\"Chunk 0 from 5 traveled over 5->2 in epoch 0 via switches 0\",\n"
         "\"Chunk 0 from 2 traveled over 2->1 in epoch 0\",\n"
         "\"Chunk 0 from 5 traveled over 2->1 in epoch 2\",\n"
         "\"Chunk 0 from 1 traveled over 2->5 in epoch 1\",\n"
         "\"Chunk 0 from 2 traveled over 2->5 in epoch 0\"" +
         more + "]}";
}

std::string wrong_result(const std::string& text) {
  Problems problems;
  algorithm_of(text, {3, 1, 0}, problems);
  return placed(problems);
}

TEST(Teccl, ReadsFlowsAsAnAllGather) {
  Problems problems;
  const auto algorithm = algorithm_of(line_of_three(), {3, 1, 0}, problems);
  ASSERT_EQ(placed(problems), "");
  EXPECT_EQ(algorithm->kind(), CollectiveKind::kAllGather);
  for (const std::int64_t elements : {3, 30}) {
    const auto schedule = algorithm->schedule(elements, 0, Engine::kKernel);
    EXPECT_EQ(check(*schedule, Contract::of(CollectiveKind::kAllGather, 3, elements, 0, false)),
              std::vector<Violation>());
    EXPECT_EQ(rounds_of(*schedule).chain, 2);
    EXPECT_EQ(rounds_of(*schedule).messages, 6);
  }
}

TEST(Teccl, RefusesInvalidResults) {
  EXPECT_EQ(wrong_result("{\"7-Flows\": 3}"), "1:1 missing 7-Flows");
  EXPECT_EQ(wrong_result("{\"7-Flows\": []}"), "1:13 missing 7-Flows");
  EXPECT_EQ(wrong_result(line_of_three(",\n\"Chunk 0 from 1 is here\"")), "8:1 syntax 7-Flows");
  EXPECT_EQ(wrong_result(line_of_three(
                ",\n\"Chunk 0 from 1 traveled over 1->2 with volume 0.5 in epoch 0\"")),
            "8:1 unsupported 7-Flows");
  EXPECT_EQ(wrong_result(line_of_three(",\n\"Chunk 1 from 1 traveled over 2->5 in epoch 0\"")),
            "8:1 conflict 7-Flows");
  EXPECT_EQ(wrong_result(line_of_three(",\n\"Chunk 0 from 1 traveled over 1->5 in epoch 7\"")),
            "8:1 conflict 7-Flows");
  EXPECT_EQ(wrong_result(line_of_three(",\n\"Chunk 0 from 1 traveled over 1->9 in epoch 7\"")),
            "8:1 unsupported 7-Flows");
}

TEST(Teccl, TheCheckerFindsAChunkThatDoesNotReachAllRanks) {
  std::string text = line_of_three();
  const std::string last = ",\n\"Chunk 0 from 2 traveled over 2->5 in epoch 0\"";
  text.erase(text.find(last), last.size());
  Problems problems;
  const auto algorithm = algorithm_of(text, {3, 1, 0}, problems);
  ASSERT_EQ(placed(problems), "");
  const auto found = check(*algorithm->schedule(3, 0, Engine::kKernel),
                           Contract::of(CollectiveKind::kAllGather, 3, 3, 0, false));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ViolationKind::kWrongSum);
  EXPECT_EQ(found.front().rank, 2);
}

}  // namespace
}  // namespace tutti::core
