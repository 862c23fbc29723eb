// The plan checker finds mistakes between ranks, such as different orders on a communicator. For
// each kind of mistake, a test checks programs that make it.

#include "core/plan/check_collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tutti::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using Code = PlanProblemCode;

/// Returns the task of collective `number`. Collectives below 100 are on communicator 0, which
/// executes one at a time. The others are on communicator 1.
Task collective(std::int32_t number, std::int32_t every_steps = 1) {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  task.index = number;
  task.every_steps = every_steps;
  return task;
}
Task computation() {
  Task task;
  task.kind = Task::Kind::kCompute;
  return task;
}

/// Returns a program with these tasks in sequence, and an end.
Program chain(const std::vector<Task>& tasks) {
  ProgramBuilder builder;
  for (const Task& task : tasks) {
    const TaskId id = builder.add(task);
    if (id > 0) builder.edge(id - 1, id);
  }
  const TaskId end = builder.add({});
  if (end > 0) builder.edge(end - 1, end);
  return std::move(builder).build(end);
}

std::vector<PlanProblem> problems(const std::vector<const Program*>& programs,
                                  bool one_at_a_time = true) {
  PlanView view;
  std::vector<std::int32_t> all;
  for (std::size_t r = 0; r < programs.size(); ++r) {
    view.roles.push_back({programs[r], "rank " + std::to_string(r)});
    all.push_back(static_cast<std::int32_t>(r));
  }
  view.communicators = {{"one", all, one_at_a_time}, {"other", all, one_at_a_time}};
  view.use = [](std::int32_t, const Task& task) {
    return PlanView::Use{task.index < 100 ? 0 : 1, task.index};
  };
  return problems_of(view);
}

auto problem(Code code, std::int32_t role, std::int32_t collective) {
  return AllOf(Field(&PlanProblem::code, code), Field(&PlanProblem::role, role),
               Field(&PlanProblem::index, collective));
}

TEST(CheckCollectives, FindsNoProblemIfAllRanksDoTheSame) {
  const Program a = chain({collective(1), computation(), collective(2), collective(101)});
  const Program b =
      chain({computation(), collective(1), collective(2), computation(), collective(101)});
  EXPECT_THAT(problems({&a, &b, &a}), IsEmpty());
}

TEST(CheckCollectives, FindsErrorsInAProgram) {
  const Program good = chain({collective(1)});
  Program bad = good;
  bad.end = kNoTask;
  EXPECT_THAT(problems({&good, &bad}), ElementsAre(AllOf(Field(&PlanProblem::code, Code::kNoEnd),
                                                         Field(&PlanProblem::role, 1))));
}

TEST(CheckCollectives, FindsARankThatSkipsACollective) {
  const Program all = chain({collective(1), collective(2)}), without = chain({collective(1)});
  EXPECT_THAT(problems({&all, &without}), ElementsAre(problem(Code::kRankMissing, 0, 2)));
  EXPECT_THAT(problems({&without, &all}), ElementsAre(problem(Code::kRankMissing, 1, 2)));
}

TEST(CheckCollectives, FindsRanksWithDifferentNumbersOfCollectives) {
  const Program once = chain({collective(1)}), twice = chain({collective(1), collective(1)});
  EXPECT_THAT(problems({&once, &twice}), ElementsAre(problem(Code::kCountsDiffer, 1, 1)));
}

Program repeated(std::int32_t repeat, const std::vector<Task>& tasks) {
  ProgramBuilder builder;
  TaskId last = builder.add({});
  for (const Task& task : tasks) {
    const TaskId id = builder.add(task);
    builder.edge(last, id);
    last = id;
  }
  builder.repeat_since(1, repeat);
  const TaskId end = builder.add({});
  builder.edge(last, end);
  return std::move(builder).build(end);
}

TEST(CheckCollectives, CountsTheIterationsOfBlocks) {
  const Program twice = repeated(2, {collective(1), collective(2)});
  const Program thrice = repeated(3, {collective(1), collective(2)});
  const Program unrolled = chain({collective(1), collective(2), collective(1), collective(2)});
  const Program sorted = chain({collective(1), collective(1), collective(2), collective(2)});
  EXPECT_THAT(problems({&twice, &unrolled}), IsEmpty());
  EXPECT_THAT(problems({&twice, &thrice}),
              ElementsAre(problem(Code::kCountsDiffer, 1, 1), problem(Code::kCountsDiffer, 1, 2)));
  EXPECT_THAT(problems({&twice, &sorted}), testing::Contains(problem(Code::kOrderDiffers, 1, 1)));
}

TEST(CheckCollectives, ComparesTheCollectivesOfAllIterations) {
  Task one = collective(1), other = collective(1);
  one.number = other.number = 3;
  one.number_stride = 2;
  other.number_stride = 1;
  const Program a = repeated(2, {one}), b = repeated(2, {other});
  EXPECT_THAT(problems({&a, &a}), IsEmpty());
  EXPECT_THAT(problems({&a, &b}), ElementsAre(problem(Code::kOrderDiffers, 1, 1)));
}

TEST(CheckCollectives, FindsARankThatWaitsInStepsThatAnotherSkips) {
  const Program always = chain({collective(1)}), sometimes = chain({collective(1, 3)});
  EXPECT_THAT(problems({&sometimes, &sometimes}), IsEmpty());
  EXPECT_THAT(problems({&always, &sometimes}), ElementsAre(problem(Code::kStepsDiffer, 1, 1)));
}

TEST(CheckCollectives, FindsDifferentOrdersOnACommunicator) {
  // No collective waits for another, but both are on one communicator.
  const auto launched = [](std::int32_t first, std::int32_t second) {
    ProgramBuilder b;
    const TaskId before = b.add(computation()), one = b.add(collective(first)),
                 two = b.add(collective(second));
    const TaskId end = b.add({});
    b.edge(before, one), b.edge(before, two), b.edge(one, end), b.edge(two, end);
    return std::move(b).build(end);
  };
  const Program a = launched(1, 2), b = launched(2, 1);
  EXPECT_THAT(problems({&a, &b}), testing::Contains(problem(Code::kOrderDiffers, 1, 2)));
  EXPECT_THAT(problems({&a, &b}, false), IsEmpty()) << "matched by keys, and both are launched";
  const Program across = launched(101, 1);
  const Program the_other_way = launched(1, 101);
  EXPECT_THAT(problems({&across, &the_other_way}), IsEmpty())
      << "communicators do not wait for each other";
}

TEST(CheckCollectives, FindsACycleThroughTwoCommunicators) {
  const Program a = chain({collective(1), collective(101)}),
                b = chain({collective(101), collective(1)});
  for (const bool one_at_a_time : {true, false})
    EXPECT_THAT(problems({&a, &b}, one_at_a_time),
                ElementsAre(Field(&PlanProblem::code, Code::kDeadlock)));
}

TEST(CheckCollectives, FindsACycleOfThreeRanks) {
  // Each rank takes part in two of three collectives, in sequence.
  const Program a = chain({collective(0), collective(1)}),
                b = chain({collective(1), collective(2)}),
                c = chain({collective(2), collective(0)}),
                other = chain({collective(0), collective(2)});
  const auto of = [&](const Program& third) {
    PlanView view;
    view.roles = {{&a, "a"}, {&b, "b"}, {&third, "c"}};
    view.communicators = {{"ac", {0, 2}, true}, {"ab", {0, 1}, true}, {"bc", {1, 2}, true}};
    view.use = [](std::int32_t, const Task& task) { return PlanView::Use{task.index, task.index}; };
    return problems_of(view);
  };
  EXPECT_THAT(of(c), ElementsAre(Field(&PlanProblem::code, Code::kDeadlock)));
  EXPECT_THAT(of(other), IsEmpty());
}

// --- orders that depend on timing ---

struct Branch {
  bool takes_time;
  std::int32_t number;
};

/// Returns a program that launches collectives 1 and 2 after computations of two branches. `order`:
/// adds an edge between the collectives.
Program branches(Task::Kind kind, bool order) {
  ProgramBuilder b;
  Task between;
  between.kind = kind;
  between.index = 100;
  const TaskId start = b.add(computation());
  const TaskId left = b.add(between);
  between.index = 101;
  const TaskId right = b.add(between);
  const TaskId one = b.add(collective(1)), two = b.add(collective(2));
  const TaskId end = b.add({});
  b.edge(start, left), b.edge(start, right), b.edge(left, one), b.edge(right, two);
  if (order) b.edge(one, two);
  b.edge(one, end), b.edge(two, end);
  return std::move(b).build(end);
}

TEST(CheckCollectives, ReportsCollectivesOfACommunicatorWithoutAnOrder) {
  const Program by_collectives = branches(Task::Kind::kCommunicate, false);
  EXPECT_THAT(problems({&by_collectives}), ElementsAre(problem(Code::kOrderUndetermined, 0, 2)));
  EXPECT_THAT(problems({&by_collectives}, false), IsEmpty()) << "matched by keys";
  EXPECT_FALSE(is_certain(Code::kOrderUndetermined));
}

TEST(CheckCollectives, EdgesStreamsAndMarksOrderCollectives) {
  const Program ordered = branches(Task::Kind::kCommunicate, true);
  EXPECT_THAT(problems({&ordered}), IsEmpty()) << "by an edge";
  const Program by_stream = branches(Task::Kind::kCompute, false);
  EXPECT_THAT(problems({&by_stream}), IsEmpty()) << "the compute stream does one after the other";
  const Program by_marks = branches(Task::Kind::kMark, false);
  EXPECT_THAT(problems({&by_marks}), IsEmpty()) << "edges are followed in their order";
}

}  // namespace
}  // namespace tutti::core
