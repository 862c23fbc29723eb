// Trees of ForestColl: an all-gather, and the reduce-scatter and all-reduce along the same trees.

#include <gtest/gtest.h>

#include "core/schedule/checker.h"
#include "core/schedule/rounds.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::algorithm_of;
using test::placed;

std::string edge(int from, int to) {
  return fmt::format(
      "<send src=\"({0}, 'GPU', 0)\" dst=\"({1}, 'GPU', 0)\" path=\"({0}, 'GPU', 0),(-1, 'IB', "
      "0),({1}, 'GPU', 0)\"/>\n",
      from, to);
}

std::string tree(int root, int chunks, const std::string& edges) {
  return fmt::format(
      "<tree root=\"({}, 'GPU', 0)\" index=\"0\" nchunks=\"{}\" height=\"2\">\n{}</tree>\n", root,
      chunks, edges);
}

/// GPUs 2, 9 and 10 with two chunks each. GPU 9 has a tree for each of its chunks.
std::string three_gpus(const std::string& more = "") {
  return "<Algo nchunkspernode=\"2\">\n" + tree(2, 2, edge(2, 9) + edge(9, 10)) +
         tree(9, 1, edge(9, 2) + edge(2, 10)) + tree(9, 1, edge(9, 10) + edge(10, 2)) +
         tree(10, 2, edge(10, 2) + edge(10, 9)) + more + "</Algo>\n";
}

std::string wrong_trees(const std::string& text, std::int32_t ranks = 3) {
  Problems problems;
  algorithm_of(text, {ranks, 1, 0}, problems);
  return placed(problems);
}

TEST(ForestColl, TreesCarryThreeCollectives) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
    Problems problems;
    auto text = read_algorithm(three_gpus(), "trees.xml", problems);
    ASSERT_EQ(placed(problems), "");
    EXPECT_EQ(text->kind(), CollectiveKind::kAllGather);
    EXPECT_EQ(text->name(), "trees");
    text = text->for_collective(kind);
    ASSERT_NE(text, nullptr);
    for (const std::int64_t pieces : {1, 3}) {
      const auto algorithm = text->for_shape({3, 1, 0}, {{"pieces", pieces}}, problems);
      ASSERT_EQ(placed(problems), "");
      EXPECT_EQ(algorithm->kind(), kind);
      for (const std::int64_t elements : {3, 60, 66}) {
        const auto schedule = algorithm->schedule(elements, 0, Engine::kKernel);
        EXPECT_EQ(check(*schedule, Contract::of(kind, 3, elements, 0, false)),
                  std::vector<Violation>())
            << to_string(kind) << ", " << elements << ", " << pieces;
      }
    }
  }
}

TEST(ForestColl, ANodeSendsItsChunksDownItsTrees) {
  Problems problems;
  const auto algorithm = algorithm_of(three_gpus(), {3, 1, 0}, problems);
  ASSERT_EQ(placed(problems), "");
  const Rounds rounds = rounds_of(*algorithm->schedule(6, 0, Engine::kKernel));
  EXPECT_EQ(rounds.messages, 8) << "two messages for each of four trees";
  EXPECT_EQ(rounds.chain, 2);
  EXPECT_EQ(rounds.all_sent, 12) << "each of six chunks reaches two other GPUs";
}

TEST(ForestColl, RefusesInvalidForests) {
  EXPECT_EQ(wrong_trees(three_gpus(), 4), "0:0 conflict");
  EXPECT_EQ(wrong_trees("<Algo nchunkspernode=\"1\"></Algo>"), "1:2 too-small Algo");
  EXPECT_EQ(wrong_trees("<Algo><tree/></Algo>"),
            "1:2 missing Algo.nchunkspernode\n1:8 missing tree.root");
  EXPECT_EQ(wrong_trees(three_gpus("<gpu/>")), "18:2 unknown-field gpu");
  EXPECT_EQ(wrong_trees(three_gpus(tree(2, 1, edge(2, 9) + edge(9, 10)))),
            "1:2 conflict Algo.nchunkspernode");
  EXPECT_EQ(wrong_trees(three_gpus(tree(2, 1, edge(2, 9)))), "18:2 missing tree.send");
  EXPECT_EQ(wrong_trees(three_gpus(tree(2, 1, edge(9, 10) + edge(2, 9)))),
            "19:2 conflict send.src");
  EXPECT_EQ(wrong_trees(three_gpus(tree(2, 1, edge(2, 9) + edge(2, 9)))), "20:2 conflict send.dst");
  EXPECT_EQ(wrong_trees(three_gpus(tree(2, 1, edge(2, 7)))), "19:2 unknown-name send.dst");
}

TEST(ForestColl, EarlierProblemsOfTheScenarioDoNotRejectTheFile) {
  Problems problems;
  problems.add({ProblemCode::kUnused}, {"s.textproto", 7, 1}, "a mistake elsewhere");
  const auto algorithm = algorithm_of(three_gpus(), {3, 1, 0}, problems);
  ASSERT_NE(algorithm, nullptr);
  EXPECT_EQ(placed(problems), "7:1 unused");
  const auto schedule = algorithm->schedule(6, 0, Engine::kKernel);
  EXPECT_EQ(check(*schedule, Contract::of(algorithm->kind(), 3, 6, 0, false)),
            std::vector<Violation>());
  Problems both;
  both.add({ProblemCode::kUnused}, {"s.textproto", 7, 1}, "a mistake elsewhere");
  algorithm_of(three_gpus(tree(2, 1, edge(2, 9))), {3, 1, 0}, both);
  EXPECT_EQ(placed(both), "7:1 unused\n18:2 missing tree.send");
}

TEST(ForestColl, IsSkippedIfTheScenarioHasTooManyProblems) {
  Problems problems;
  for (int line = 1; !problems.full(); ++line)
    problems.add({ProblemCode::kUnused}, {"s.textproto", line, 1}, "a mistake elsewhere");
  EXPECT_EQ(algorithm_of(three_gpus(), {3, 1, 0}, problems), nullptr);
}

TEST(ForestColl, IsRecognisedByTheNameOfTheRootElement) {
  const std::string head =
      "\xEF\xBB\xBF <?xml version=\"1.0\"?>\n<!-- <algo> -->\n<!DOCTYPE Algo>\n";
  Problems problems;
  EXPECT_NE(algorithm_of(head + three_gpus(), {3, 1, 0}, problems), nullptr);
  EXPECT_EQ(placed(problems), "");
  EXPECT_EQ(wrong_trees("<Algorithm/>"), "1:2 unknown-name Algorithm");
  EXPECT_EQ(wrong_trees("<algo name=\"<Algo\"/>").find("Algo."), std::string::npos);
}

TEST(ForestColl, DistinguishesGpusOfDifferentNodes) {
  const std::string text =
      "<Algo nchunkspernode=\"1\"><tree root=\"1\" nchunks=\"1\"><send src=\"1\" "
      "dst=\"01\"/></tree>"
      "<tree root=\"01\" nchunks=\"1\"><send src=\"01\" dst=\"1\"/></tree></Algo>";
  EXPECT_EQ(wrong_trees(text, 2), "");
}

TEST(ForestColl, RefusesLessThanOnePiece) {
  Problems problems;
  EXPECT_EQ(algorithm_of(three_gpus(), {3, 1, 0}, problems, {{"pieces", 0}}), nullptr);
  EXPECT_EQ(placed(problems), "0:0 conflict") << "the generated text has no positions in the file";
}

}  // namespace
}  // namespace tutti::core
