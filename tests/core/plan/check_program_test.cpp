// The plan checker finds mistakes inside one program, such as cycles and wrong blocks. For each
// kind of mistake, a test checks a program that makes it.

#include "core/plan/check_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tutti::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using Code = PlanProblemCode;

Task plain() { return {}; }
Task latched(std::int32_t latch) {
  Task task;
  task.latch = latch;
  return task;
}
Task opening(std::int32_t latch) {
  Task task;
  task.opens = latch;
  return task;
}

ProgramBuilder with(const std::vector<Task>& tasks,
                    const std::vector<std::pair<TaskId, TaskId>>& edges) {
  ProgramBuilder builder;
  for (const Task& task : tasks) builder.add(task);
  for (const auto& [from, to] : edges) builder.edge(from, to);
  return builder;
}
std::vector<PlanProblem> problems(ProgramBuilder builder, TaskId end) {
  return problems_of(std::move(builder).build_unchecked(end));
}
auto problem(Code code, TaskId task) {
  return AllOf(Field(&PlanProblem::code, code), Field(&PlanProblem::task, task));
}

TEST(CheckProgram, FindsNothingInAProgramThatEnds) {
  EXPECT_THAT(problems(with({plain(), plain()}, {{0, 1}}), 1), IsEmpty());
}

TEST(CheckProgram, ReportsATaskOfACycle) {
  const auto found = problems(with({plain(), plain(), plain()}, {{0, 1}, {1, 0}, {1, 2}}), 2);
  ASSERT_THAT(found, ElementsAre(Field(&PlanProblem::code, Code::kCycle)));
  EXPECT_LT(found[0].task, 2) << "not one that only waits for the cycle";
  EXPECT_THAT(problems(with({plain(), plain()}, {{0, 0}, {0, 1}}), 1),
              ElementsAre(problem(Code::kCycle, 0)));
}

TEST(CheckProgram, ALatchWhoseOpenerWaitsForItIsACycle) {
  auto builder = with({latched(0), opening(0), plain()}, {{0, 1}, {1, 2}});
  builder.add_latch();
  EXPECT_THAT(problems(std::move(builder), 2),
              ElementsAre(Field(&PlanProblem::code, Code::kCycle)));
}

TEST(CheckProgram, ReportsTasksThatTheEndDoesNotAwait) {
  EXPECT_THAT(problems(with({plain(), plain(), plain()}, {{0, 2}}), 2),
              ElementsAre(problem(Code::kNotAwaited, 1)));
}

TEST(CheckProgram, ReportsPackAndIndexOfTheTask) {
  Task labelled;
  labelled.pack = 7;
  labelled.index = 3;
  const auto found = problems(with({labelled, plain()}, {}), 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pack, 7);
  EXPECT_EQ(found[0].index, 3);
}

TEST(CheckProgram, NeedsAnEnd) {
  for (const TaskId end : {kNoTask, 1})
    EXPECT_THAT(problems(with({plain()}, {}), end), ElementsAre(problem(Code::kNoEnd, kNoTask)));
}

TEST(CheckProgram, EveryLatchHasOneOpener) {
  auto never = with({latched(0), plain()}, {{0, 1}});
  never.add_latch();
  EXPECT_THAT(problems(std::move(never), 1), ElementsAre(problem(Code::kLatchNeverOpened, 0)));
  auto twice = with({opening(0), opening(0), latched(0), plain()}, {{0, 3}, {1, 3}, {2, 3}});
  twice.add_latch();
  EXPECT_THAT(problems(std::move(twice), 3), ElementsAre(problem(Code::kLatchOpenedTwice, 1)));
}

TEST(CheckProgram, RefusesTasksThatEveryStepSkips) {
  Task never;
  never.every_steps = 0;
  EXPECT_THAT(problems(with({never, plain()}, {{0, 1}}), 1),
              ElementsAre(problem(Code::kNeverTakesPart, 0)));
}

TEST(CheckProgram, OnlyTasksInBlocksAreNumberedByIteration) {
  Task numbered;
  numbered.kind = Task::Kind::kCommunicate;
  numbered.number_stride = 1;
  EXPECT_THAT(problems(with({numbered, plain()}, {{0, 1}}), 1),
              ElementsAre(problem(Code::kNumberOutsideBlock, 0)));
}

// --- blocks: tasks 1 to 3 of tasks 0 to 4 ---

std::vector<PlanProblem> of_block(const std::vector<std::pair<TaskId, TaskId>>& edges,
                                  std::int32_t repeat = 2, Task second = plain()) {
  ProgramBuilder builder = with({plain(), plain(), second, plain()}, {});
  builder.add_latch();
  builder.repeat_since(1, repeat);
  builder.add(opening(0));
  for (const auto& [from, to] : edges) builder.edge(from, to);
  return problems(std::move(builder), 4);
}
const std::vector<std::pair<TaskId, TaskId>> kChain{{0, 1}, {1, 2}, {2, 3}, {3, 4}};

TEST(CheckProgram, ABlockHasOneEntryAndOneExitThatWaitsForAllItsTasks) {
  EXPECT_THAT(of_block(kChain), IsEmpty());
  EXPECT_THAT(of_block({{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}),
              ElementsAre(problem(Code::kBlockEnteredElsewhere, 2)));
  EXPECT_THAT(of_block({{0, 1}, {1, 3}, {2, 3}, {3, 4}}),
              ElementsAre(problem(Code::kBlockEnteredElsewhere, 2)))
      << "a task without predecessors would run in the first iteration alone";
  EXPECT_THAT(
      of_block({{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}),
      ElementsAre(problem(Code::kOutlastsIteration, 2), problem(Code::kBlockLeftElsewhere, 2)));
}

TEST(CheckProgram, ABlockRunsAtLeastOnce) {
  for (const std::int32_t repeat : {0, -1})
    EXPECT_THAT(of_block(kChain, repeat), ElementsAre(problem(Code::kBlockNeverEnds, 1)));
}

TEST(CheckProgram, BlocksContainNoLatches) {
  EXPECT_THAT(of_block(kChain, 2, latched(0)), Contains(problem(Code::kNotAllowedInBlock, 2)));
  EXPECT_THAT(of_block(kChain, 2, opening(0)), Contains(problem(Code::kNotAllowedInBlock, 2)));
}

TEST(CheckProgram, TheEndIsOutsideOfBlocks) {
  ProgramBuilder builder = with({plain(), plain()}, {{0, 1}});
  builder.repeat_since(0, 2);
  EXPECT_THAT(problems(std::move(builder), 1), Contains(problem(Code::kNotAllowedInBlock, 1)));
}

TEST(CheckProgram, BlocksDoNotOverlap) {
  ProgramBuilder builder = with({plain(), plain()}, {{0, 1}});
  builder.repeat_since(0, 2);
  builder.repeat_since(1, 2);
  builder.add(plain());
  builder.edge(1, 2);
  EXPECT_THAT(problems(std::move(builder), 2), Contains(problem(Code::kBlocksOverlap, 1)));
}

// --- damage ---

TEST(CheckProgram, DamagedProgramsDoNotCrashTheChecker) {
  Task shared;
  shared.kind = Task::Kind::kCompute;
  shared.cost = {TaskCost::Kind::kShares, 0, {0, 1}};
  const auto good = [&] {
    ProgramBuilder builder =
        with({opening(0), latched(0), shared, plain()}, {{0, 1}, {0, 2}, {1, 2}, {2, 3}});
    builder.add_latch();
    builder.add_shares({{0, 1}});
    builder.repeat_since(3, 2);
    builder.add(plain());
    builder.edge(3, 4);
    return std::move(builder).build_unchecked(4);
  };
  ASSERT_THAT(problems_of(good()), IsEmpty());
  constexpr std::int32_t kFar = 1'000'000'000;
  const std::vector<std::pair<const char*, std::function<void(Program&, std::int32_t)>>> damages{
      {"successor", [](Program& p, std::int32_t v) { p.successors[1] = v; }},
      {"first edge", [](Program& p, std::int32_t v) { p.first_edge[1] = v; }},
      {"last edge", [](Program& p, std::int32_t v) { p.first_edge.back() = v; }},
      {"join", [](Program& p, std::int32_t v) { p.join[1] = v; }},
      {"predecessors", [](Program& p, std::int32_t v) { p.predecessors[0] = v; }},
      {"root", [](Program& p, std::int32_t v) { p.roots[0] = v; }},
      {"end", [](Program& p, std::int32_t v) { p.end = v; }},
      {"latches", [](Program& p, std::int32_t) { p.latches = 0; }},
      {"latch", [](Program& p, std::int32_t v) { p.tasks[1].latch = v; }},
      {"opens", [](Program& p, std::int32_t v) { p.tasks[0].opens = v; }},
      {"shares", [](Program& p, std::int32_t v) { p.tasks[2].cost.shares.first = v; }},
      {"count of shares", [](Program& p, std::int32_t v) { p.tasks[2].cost.shares.count = v; }},
      {"row", [](Program& p, std::int32_t) { p.tasks[2].cost.value = -1; }},
      {"block", [](Program& p, std::int32_t v) { p.blocks[0].tasks.first = v; }},
      {"length of block", [](Program& p, std::int32_t v) { p.blocks[0].tasks.count = v; }},
      {"entry", [](Program& p, std::int32_t v) { p.blocks[0].entry = v; }},
      {"exit", [](Program& p, std::int32_t v) { p.blocks[0].exit = v; }},
      {"joins of block",
       [](Program& p, std::int32_t v) {
         p.blocks[0].joins = {v, 1};
       }},
      {"column", [](Program& p, std::int32_t) { p.join.pop_back(); }},
  };
  for (const auto& [what, damage] : damages) {
    for (const std::int32_t value : {-kFar, -7, kFar}) {
      Program program = good();
      damage(program, value);
      EXPECT_FALSE(problems_of(program).empty()) << what << " = " << value;
    }
  }
}

}  // namespace
}  // namespace tutti::core
