#include "core/plan/issue_order.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

#include "core/base/check.h"
#include "core/plan/runner.h"

namespace tutti::core {
namespace {

/// A host that completes tasks in the order in which the runner starts them.
class InOrder : public Host {
 public:
  explicit InOrder(const Program& program)
      : first_(program.tasks.data()), completed(program.tasks.size(), -1) {}

  void compute(TaskId id, const Task&, Time, std::int64_t) override { issue(id); }
  void communicate(TaskId id, const Task&, std::int64_t) override { issue(id); }
  void mark(const Task& task) override { complete(static_cast<TaskId>(&task - first_)); }
  void step_done() override { ended = true; }

  void run(Runner& runner) {
    while (!in_flight_.empty()) {
      const TaskId id = in_flight_.front();
      in_flight_.pop_front();
      complete(id);
      runner.done(id, *this);
    }
  }

 private:
  void issue(TaskId id) {
    issued.push_back(id);
    in_flight_.push_back(id);
  }
  void complete(TaskId id) { completed[id] = completions_++; }

  const Task* first_;
  std::deque<TaskId> in_flight_;
  std::int32_t completions_ = 0;

 public:
  std::vector<TaskId> issued;
  std::vector<std::int32_t> completed;
  bool ended = false;
};

}  // namespace

IssueOrder::IssueOrder(const Program& program) : program_(program) {
  const std::size_t tasks = program.tasks.size();
  std::vector<TaskId> opener(program.latches, kNoTask);
  for (TaskId t = 0; t < program.size(); ++t) {
    if (program.tasks[t].opens >= 0) opener[program.tasks[t].opens] = t;
  }
  const auto each_edge = [&](const auto& visit) {
    for (TaskId t = 0; t < program.size(); ++t) {
      for (std::int32_t e = program.first_edge[t]; e < program.first_edge[t + 1]; ++e)
        visit(t, program.successors[e]);
      if (program.tasks[t].latch >= 0) visit(opener[program.tasks[t].latch], t);
    }
  };
  first_before_.assign(tasks + 1, 0);
  each_edge([&](TaskId, TaskId to) { ++first_before_[to + 1]; });
  std::partial_sum(first_before_.begin(), first_before_.end(), first_before_.begin());
  before_.resize(first_before_.back());
  std::vector<std::int32_t> next(first_before_.begin(), first_before_.end() - 1);
  each_edge([&](TaskId from, TaskId to) { before_[next[to]++] = from; });

  earlier_.assign(tasks, kNoTask);
  seen_.assign(tasks, 0);
  run();
  TaskId last = kNoTask;
  for (const TaskId t : issued_) {
    if (program.tasks[t].kind != Task::Kind::kCompute || program.tasks[t].every_steps != 1)
      continue;
    if (last != kNoTask && is_certain(last, t)) earlier_[t] = last;
    last = t;
  }
}

void IssueOrder::run() {
  Program once = program_;
  for (Task& task : once.tasks) {
    task.every_steps = 1;
    task.reported = true;
    task.cost = {TaskCost::Kind::kCopy, 0, {}};
  }
  for (Block& block : once.blocks) block.repeat = 1;
  const Durations none;
  Runner runner(once, none, {Bandwidth(1), Bandwidth(1)});
  InOrder host(once);
  runner.begin_step(1'000'000, host);
  host.run(runner);
  TUTTI_CHECK(host.ended, "a program of {} tasks without problems does not end", program_.size());
  issued_ = std::move(host.issued);
  completed_ = std::move(host.completed);
  completed_[once.end] = std::numeric_limits<std::int32_t>::max();
}

TaskId IssueOrder::released_by(TaskId task, bool& several) const {
  const auto count = [this](TaskId t) { return first_before_[t + 1] - first_before_[t]; };
  several = count(task) > 1;
  while (count(task) == 1) {
    task = before_[first_before_[task]];
    if (program_.tasks[task].kind != Task::Kind::kMark || count(task) > 1) return task;
  }
  return kNoTask;
}

bool IssueOrder::is_certain(TaskId before, TaskId after) const {
  // If `before` and `after` start because the same task completed, they are issued in the order of
  // that task's edges.
  bool several_before = false, several_after = false;
  const TaskId releases = released_by(before, several_before);
  if (released_by(after, several_after) == releases && !several_before && !several_after)
    return true;
  // Otherwise, `after` must wait for a task that takes time and that starts only after all
  // predecessors of `before` are complete. A mark is complete when the last of its predecessors is
  // complete.
  std::vector<TaskId> needed;
  std::vector<TaskId> marks{before};
  std::int32_t oldest = completed_[before];
  for (std::size_t i = 0; i < marks.size(); ++i) {
    each_awaited(marks[i], [&](TaskId t) {
      oldest = std::min(oldest, completed_[t]);
      std::vector<TaskId>& list = program_.tasks[t].kind == Task::Kind::kMark ? marks : needed;
      if (std::find(list.begin(), list.end(), t) == list.end()) list.push_back(t);
    });
  }
  const std::int32_t steps_before = program_.tasks[before].every_steps;
  const std::int32_t steps_after = program_.tasks[after].every_steps;
  // A skipped task takes no time. Consider only training steps that execute both tasks.
  const auto takes_time_between = [&](const Task& task) {
    return task.kind != Task::Kind::kMark &&
           (steps_before % task.every_steps == 0 || steps_after % task.every_steps == 0);
  };
  const auto arrive = [&](TaskId t, bool behind) {
    const std::uint8_t state = behind ? 2 : 1;
    if (seen_[t] >= state || completed_[t] < oldest) return;
    seen_[t] = state;
    touched_.push_back(t);
  };
  each_awaited(after, [&](TaskId t) { arrive(t, false); });
  bool any_takes_time = false;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const TaskId t = touched_[i];
    const bool takes_time = takes_time_between(program_.tasks[t]);
    any_takes_time |= takes_time;
    const bool behind = seen_[t] == 2 || takes_time;
    each_awaited(t, [&](TaskId b) { arrive(b, behind); });
    if (earlier_[t] != kNoTask) arrive(earlier_[t], true);
  }
  const bool certain = needed.empty() ? any_takes_time
                                      : std::all_of(needed.begin(), needed.end(),
                                                    [this](TaskId t) { return seen_[t] == 2; });
  for (const TaskId t : touched_) seen_[t] = 0;
  touched_.clear();
  return certain;
}

}  // namespace tutti::core
