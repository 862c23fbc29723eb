// The runner of a task graph: the order of its calls, latches, blocks that repeat, edges between
// steps, and its state between two steps.

#include "core/plan/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Records every call with the `index` of its task.
class RecordedCalls : public Host {
 public:
  std::vector<std::string> log;

  void compute(TaskId, const Task& t, Time duration, std::int64_t) override {
    log.push_back("compute " + std::to_string(t.index) + " for " +
                  std::to_string(duration.count()));
  }
  void communicate(TaskId, const Task& t, std::int64_t number) override {
    log.push_back("communicate " + std::to_string(t.index) + " as " + std::to_string(number));
  }
  void mark(const Task& t) override { log.push_back("mark " + std::to_string(t.index)); }
  void step_done() override { log.emplace_back("end"); }
  std::vector<std::string> take() { return std::exchange(log, {}); }
};

Task mark(int index) {
  Task task;
  task.reported = true;
  task.index = index;
  return task;
}
Task compute(int index, TaskCost cost = {}) {
  Task task;
  task.kind = Task::Kind::kCompute;
  task.index = index;
  task.cost = cost;
  return task;
}
Task communicate(int index) {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  task.index = index;
  return task;
}

const Durations& known_durations() {
  static const Durations all{{{Time(100)}, {Time(7)}}};
  return all;
}
ComputeRates known_device() { return {Bandwidth(1'000'000'000), Bandwidth(4'000'000'000)}; }

TEST(Runner, FollowsEdgesDepthFirst) {
  ProgramBuilder b;
  const TaskId first = b.add(compute(0));
  const TaskId left = b.add(mark(1)), right = b.add(mark(2));
  const TaskId below_left = b.add(mark(3));
  const TaskId end = b.add(mark(4));
  b.edge(first, right);  // edges count in the order in which they were added, not by task
  b.edge(first, left);
  b.edge(left, below_left);
  b.edge(below_left, end);
  b.edge(right, end);
  const Program program = std::move(b).build(end);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  runner.begin_step(1'000'000, host);
  EXPECT_THAT(host.take(), ElementsAre("compute 0 for 100"));
  runner.done(first, host);
  EXPECT_THAT(host.take(), ElementsAre("mark 2", "mark 1", "mark 3", "end"));
}

TEST(Runner, StartsATaskWhenItsLastPredecessorIsComplete) {
  ProgramBuilder b;
  const TaskId one = b.add(compute(1)), two = b.add(communicate(2)), both = b.add(mark(3)),
               end = b.add(mark(4));
  b.edge(one, both);
  b.edge(two, both);
  b.edge(both, end);
  const Program program = std::move(b).build(end);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  for (const auto& order : {std::pair(one, two), std::pair(two, one)}) {
    runner.begin_step(1'000'000, host);
    EXPECT_THAT(host.take(), ElementsAre("compute 1 for 100", "communicate 2 as 0"))
        << "roots in their order";
    runner.done(order.first, host);
    EXPECT_THAT(host.take(), IsEmpty());
    runner.done(order.second, host);
    EXPECT_THAT(host.take(), ElementsAre("mark 3", "end"));
  }
}

TEST(Runner, OpeningALatchStartsWaitingTasksInTheOrderOfArrival) {
  ProgramBuilder b;
  const std::int32_t latch = b.add_latch();
  const TaskId one = b.add(communicate(1)), two = b.add(communicate(2)),
               three = b.add(communicate(3));
  Task opening = compute(4);
  opening.opens = latch;
  const TaskId opener = b.add(opening);
  const TaskId next = b.add(mark(5)), end = b.add(mark(6));
  b.edge(opener, next);
  b.edge(next, end);
  for (const TaskId t : {one, two, three}) {
    Task latched = mark(10 + t);
    latched.latch = latch;
    const TaskId id = b.add(latched);
    b.edge(t, id);
    b.edge(id, end);
  }
  const Program program = std::move(b).build(end);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  runner.begin_step(1'000'000, host);
  host.take();
  runner.done(three, host);
  runner.done(one, host);
  EXPECT_THAT(host.take(), IsEmpty());
  runner.done(opener, host);
  EXPECT_THAT(host.take(), ElementsAre("mark 12", "mark 10", "mark 5"));
  runner.done(two, host);
  EXPECT_THAT(host.take(), ElementsAre("mark 11", "end")) << "an open latch holds no task";
}

TEST(Runner, SkipsTasksThatAreNotInTheStep) {
  ProgramBuilder b;
  Task sometimes = communicate(1);
  sometimes.every_steps = 2;
  const TaskId first = b.add(compute(0)), rare = b.add(sometimes), end = b.add(mark(2));
  b.edge(first, rare);
  b.edge(rare, end);
  const Program program = std::move(b).build(end);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  for (int step = 0; step < 4; ++step) {
    runner.begin_step(1'000'000, host);
    host.take();
    runner.done(first, host);
    if (step % 2 == 0) {
      EXPECT_THAT(host.take(), ElementsAre("end"));
      continue;
    }
    EXPECT_THAT(host.take(), ElementsAre("communicate 1 as 0"));
    runner.done(rare, host);
    EXPECT_THAT(host.take(), ElementsAre("end"));
  }
}

TEST(Runner, RunsTheIterationsOfABlockOneAfterTheOther) {
  ProgramBuilder b;
  const TaskId before = b.add(compute(0));
  const TaskId entry = b.add(compute(1));
  b.edge(before, entry);
  Task numbered = communicate(2);
  numbered.number = 5;
  numbered.number_stride = 3;
  const TaskId side = b.add(numbered), exit = b.add(mark(3));
  b.edge(entry, side);
  b.edge(entry, exit);
  b.edge(side, exit);
  b.repeat_since(entry, 3);
  const TaskId end = b.add(mark(4));
  b.edge(exit, end);
  const Program program = std::move(b).build(end);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  for (int step = 0; step < 2; ++step) {
    runner.begin_step(1'000'000, host);
    runner.done(before, host);
    EXPECT_THAT(host.take(), ElementsAre("compute 0 for 100", "compute 1 for 100"));
    for (int i = 0; i < 3; ++i) {
      runner.done(entry, host);
      EXPECT_THAT(host.take(), ElementsAre("communicate 2 as " + std::to_string(5 + 3 * i)));
      runner.done(side, host);
      if (i < 2) {
        EXPECT_THAT(host.take(), ElementsAre("mark 3", "compute 1 for 100"));
      } else {
        EXPECT_THAT(host.take(), ElementsAre("mark 3", "end"));
      }
    }
  }
}

TEST(Runner, ComputesCostsByPaceCopyRateOrShares) {
  ProgramBuilder b;
  b.set_share_whole(3);
  const auto add = [&b](const TaskCost& cost) { return b.add(compute(0, cost)); };
  std::vector<TaskId> all{add({TaskCost::Kind::kTime, 0, {}}), add({TaskCost::Kind::kCopy, 5, {}}),
                          add({TaskCost::Kind::kMemory, 6, {}})};
  all.push_back(add({TaskCost::Kind::kShares, 1, b.add_shares({{0, 1}})}));
  all.push_back(add({TaskCost::Kind::kShares, 1, b.add_shares({{1, 2}, {2, 3}})}));
  const TaskId end = b.add(mark(1));
  for (const TaskId t : all) b.edge(t, end);
  const Program program = std::move(b).build(end);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  runner.begin_step(2'000'000, host);
  EXPECT_THAT(host.take(), ElementsAre("compute 0 for 200", "compute 0 for 5000",
                                       "compute 0 for 1500", "compute 0 for 4", "compute 0 for 10"))
      << "14 in thirds: 4, 5, 5";
}

TEST(Runner, ALongChainOfMarksDoesNotOverflowTheStack) {
  ProgramBuilder b;
  TaskId last = b.add(compute(0));
  const TaskId first = last;
  for (int i = 0; i < 1'000'000; ++i) {
    const TaskId next = b.add(Task());
    b.edge(last, next);
    last = next;
  }
  const Program program = std::move(b).build(last);
  Runner runner(program, known_durations(), known_device());
  RecordedCalls host;
  runner.begin_step(1'000'000, host);
  host.take();
  runner.done(first, host);
  EXPECT_THAT(host.take(), ElementsAre("end"));
}

}  // namespace
}  // namespace tutti::core
