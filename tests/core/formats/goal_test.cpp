#include "core/formats/goal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::FailsWith;
using Kind = GoalOperation::Kind;

struct Schedule {
  std::int64_t ranks = 0;
  std::vector<GoalRank> all;
};

Expected<Schedule> goal_schedule(std::string_view text) {
  Schedule schedule;
  const auto input = byte_input_of(text, "s.goal");
  const auto done = read_goal(
      *input, "s.goal", [&](std::int64_t ranks) { schedule.ranks = ranks; },
      [&](GoalRank&& rank) -> Expected<void> {
        schedule.all.push_back(std::move(rank));
        return {};
      });
  if (!done) return tl::make_unexpected(done.error());
  return schedule;
}

/// A text with all features of the text form.
const std::string kAll = R"(// comment
/* over
   lines */ num_ranks 3
rank 1 { /* in a line */
b requires a
a: calc 1500 cpu 2
b: send 10b to 2 tag 7 cpu 1 nic 3
recv 11b from -1 tag -1 nic 1
c: recv 12b from 0
c irequires a
}
rank 0 {
}
rank 2 { calc 5
})";

TEST(Goal, TextHasOperationsAndDependencies) {
  const auto schedule = goal_schedule(kAll);
  ASSERT_TRUE(schedule) << schedule.error().message();
  EXPECT_EQ(schedule->ranks, 3);
  ASSERT_EQ(schedule->all.size(), 3U);
  const GoalRank& one = schedule->all[0];
  EXPECT_EQ(one.rank, 1);
  EXPECT_THAT(one.operations,
              testing::ElementsAre(GoalOperation{Kind::kCompute, 2, 0, 0, 0, 1500, 6},
                                   GoalOperation{Kind::kSend, 1, 3, 2, 7, 10, 7},
                                   GoalOperation{Kind::kReceive, 0, 1, -1, -1, 11, 8},
                                   GoalOperation{Kind::kReceive, 0, 0, 0, 0, 12, 9}));
  // A label may be used before its definition.
  EXPECT_THAT(one.dependencies,
              testing::ElementsAre(GoalDependency{1, 0, false}, GoalDependency{3, 0, true}));
  EXPECT_TRUE(schedule->all[1].operations.empty());
}

std::string binary_of(const Schedule& schedule) {
  std::vector<GoalRank> sorted = schedule.all;
  std::sort(sorted.begin(), sorted.end(),
            [](const GoalRank& a, const GoalRank& b) { return a.rank < b.rank; });
  GoalBinaryHeader header;
  std::string data;
  for (const GoalRank& rank : sorted) {
    header.add(rank, goal_binary(rank).size());
    data += goal_binary(rank);
  }
  return header.bytes() + data;
}

/// Returns the ranks with sorted dependencies and without line numbers.
std::vector<GoalRank> comparable(std::vector<GoalRank> ranks) {
  for (GoalRank& rank : ranks) {
    for (GoalOperation& one : rank.operations) one.line = 0;
    std::sort(rank.dependencies.begin(), rank.dependencies.end(),
              [](const GoalDependency& a, const GoalDependency& b) {
                return std::tuple(a.operation, a.on, a.at_start) <
                       std::tuple(b.operation, b.on, b.at_start);
              });
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const GoalRank& a, const GoalRank& b) { return a.rank < b.rank; });
  return ranks;
}

TEST(Goal, WritingAndReadingPreserveBothForms) {
  const auto schedule = goal_schedule(kAll);
  ASSERT_TRUE(schedule);
  const auto binary = goal_schedule(binary_of(*schedule));
  ASSERT_TRUE(binary) << binary.error().message();
  EXPECT_EQ(comparable(binary->all), comparable(schedule->all));
  std::ostringstream text;
  GoalTextWriter writer(text, schedule->ranks, "again");
  for (const GoalRank& rank : schedule->all) writer.add(rank);
  const auto again = goal_schedule(text.str());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(comparable(again->all), comparable(schedule->all));
}

/// The expected bytes are those that LogGOPSim's txt2bin writes for two ranks, `rank 0 { l1: calc 3
/// l2: send 1b to 1 tag 9; l2 requires l1 }` and `rank 1 { recv 1b from 0 tag 9 }`, according to
/// the layout in its Parser.hpp (serialize_mmap).
TEST(Goal, BinaryHasTheLayoutOfLogGOPSim) {
  const auto schedule = goal_schedule(
      "num_ranks 2\nrank 0 {\nl1: calc 3\nl2: send 1b to 1 tag 9\nl2 requires l1\n}\n"
      "rank 1 {\nrecv 1b from 0 tag 9\n}\n");
  ASSERT_TRUE(schedule);
  const std::string bytes = binary_of(*schedule);
  const auto at = [&](std::size_t offset) {
    return int{static_cast<unsigned char>(bytes[offset])};
  };
  EXPECT_EQ(at(0) + 256 * at(1), 4223);
  EXPECT_EQ(at(8), 2) << "ranks";
  // Rank 0 starts after 8 + 6 + 2 · 16 bytes, which is offset 38 from byte 8.
  EXPECT_EQ(at(14), 38);
  const std::size_t rank = 8 + 38;
  EXPECT_EQ(at(rank), 2) << "operations";
  EXPECT_EQ(at(rank + 4), 1) << "without dependencies";
  const std::size_t second = rank + 8 + 4 + 39;
  EXPECT_EQ(at(second), 1) << "dependencies of the send";
  EXPECT_EQ(at(second + 4), 1) << "type";
  EXPECT_EQ(at(second + 5), 1) << "peer";
  EXPECT_EQ(at(second + 17), 9) << "tag";
  EXPECT_EQ(at(second + 39), 1) << "the appendix: operation 1 waits for operation 0";
  EXPECT_EQ(bytes.size(), second + 39 + 4 + 8 + 4 + 39);
}

TEST(Goal, ErrorsHavePositions) {
  const auto fails = [](const std::string& text, ProblemCode code, int line, int column) {
    const auto schedule = goal_schedule(text);
    ASSERT_FALSE(schedule) << text;
    const Problem& problem = schedule.error().problems().front();
    EXPECT_EQ(problem.kind.code, code) << problem.text;
    EXPECT_EQ(problem.where.line, line) << problem.text;
    EXPECT_EQ(problem.where.column, column) << problem.text;
  };
  fails("", ProblemCode::kMissing, 0, 0);
  fails("rank 0 {\n", ProblemCode::kSyntax, 1, 1);
  fails("num_ranks 0\n", ProblemCode::kSyntax, 1, 11);
  fails("num_ranks 2\nnum_ranks 2\n", ProblemCode::kDuplicate, 2, 1);
  fails("num_ranks 1\nrank 1 {\n}\n", ProblemCode::kSyntax, 2, 6);
  fails("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", ProblemCode::kDuplicate, 4, 6);
  fails("num_ranks 2\nrank 0 {\n}\n", ProblemCode::kMissing, 3, 0);
  fails("num_ranks 1\nrank 0 {\n", ProblemCode::kSyntax, 2, 0);
  fails("num_ranks 1\nrank 0 {\ncalc -1\n}\n", ProblemCode::kSyntax, 3, 6);
  fails("num_ranks 2\nrank 0 {\nsend 1 to 1\n}\n", ProblemCode::kSyntax, 3, 6);
  fails("num_ranks 2\nrank 0 {\nsend 1b from 1\n}\n", ProblemCode::kSyntax, 3, 9);
  fails("num_ranks 2\nrank 0 {\nsend 1b to 2\n}\n", ProblemCode::kSyntax, 3, 12);
  fails("num_ranks 2\nrank 0 {\nsend 1b to -1\n}\n", ProblemCode::kSyntax, 3, 12);
  fails("num_ranks 2\nrank 0 {\nsend 1b to 0\n}\n", ProblemCode::kConflict, 3, 12);
  fails("num_ranks 2\nrank 0 {\nsend 1b to 1 tag -1\n}\n", ProblemCode::kSyntax, 3, 18);
  fails("num_ranks 2\nrank 0 {\nsend 1b to 1 cpu 256\n}\n", ProblemCode::kSyntax, 3, 18);
  fails("num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n}\n", ProblemCode::kDuplicate, 4, 1);
  fails("num_ranks 1\nrank 0 {\na: calc 1\n  a requires b\n}\n", ProblemCode::kUnknownName, 4, 14);
  fails("num_ranks 1\nrank 0 {\n1: calc 1\n}\n", ProblemCode::kSyntax, 3, 1);
  fails("num_ranks 1\nrank 0 { /* \ncalc 1\n}\n", ProblemCode::kSyntax, 4, 0);
}

TEST(Goal, DamagedFilesAreRefusedOrRead) {
  const auto schedule = goal_schedule(kAll);
  ASSERT_TRUE(schedule);
  for (const std::string& whole : {kAll, binary_of(*schedule)}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(goal_schedule(whole.substr(0, size))) << size;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const char to : {'\0', '\xff', '1', '}'}) {
        std::string other = whole;
        other[at] = to;
        if (const auto again = goal_schedule(other); !again) {
          EXPECT_FALSE(again.error().problems().front().text.empty());
        }
      }
    }
  }
}

TEST(Goal, IsRecognisedByItsBeginning) {
  EXPECT_TRUE(is_goal_text("num_ranks 4\n"));
  EXPECT_TRUE(is_goal_text(kAll));
  EXPECT_FALSE(is_goal_text("{\"num_ranks\": 4}"));
  EXPECT_FALSE(is_goal_text("// nothing"));
  const auto schedule = goal_schedule(kAll);
  EXPECT_TRUE(is_goal_binary(binary_of(*schedule)));
  EXPECT_FALSE(is_goal_binary(kAll));
}

}  // namespace
}  // namespace tutti::core
