// Checks columns in one pass from front to back. The main check is that edges lead only to higher
// task numbers. If edges lead only to higher task numbers, the graph has no cycle. If, in addition,
// every task except the last has a successor, the last task waits for all other tasks. The other
// checks examine predecessor counts, latches and blocks.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/plan/task_columns.h"
#include "core/plan/task_counts.h"

namespace tutti::core {
namespace {

class ColumnChecker {
 public:
  ColumnChecker(const TaskColumns& columns, std::int64_t rows,
                const std::function<void(TaskId)>& passed)
      : c_(columns), rows_(rows), passed_(passed) {}

  std::vector<PlanProblem> problems() && {
    if (c_.tasks < 1 || c_.tasks > std::numeric_limits<TaskId>::max()) {
      add(PlanProblemCode::kNoEnd, kNoTask, "the program has no end task");
      return std::move(problems_);
    }
    look_at_lists();
    if (problems_.empty()) look_at_tasks();
    return std::move(problems_);
  }

 private:
  void add(PlanProblemCode code, TaskId t, std::string text) {
    problems_.push_back({code, t, -1, t == kNoTask || !c_.packs ? -1 : c_.packs[t],
                         t == kNoTask || !c_.indices ? -1 : c_.indices[t], std::move(text)});
  }
  template <class... Args>
  void damaged(TaskId t, fmt::format_string<Args...> text, Args&&... args) {
    add(PlanProblemCode::kDamaged, t, fmt::format(text, std::forward<Args>(args)...));
  }

  void look_at_lists() {
    TaskId last = -1;
    for (const TaskId root : c_.roots) {
      if (root <= last || root >= c_.tasks)
        return damaged(kNoTask, "the roots are not tasks in ascending order");
      last = root;
    }
    std::int64_t free = 0;
    for (const Block& block : c_.blocks) {
      const auto holds = [&](TaskId t) {
        return t >= block.tasks.first && t - block.tasks.first < block.tasks.count;
      };
      if (block.tasks.first < free || block.tasks.count < 1 ||
          block.tasks.first + std::int64_t{block.tasks.count} > c_.tasks)
        return add(PlanProblemCode::kBlocksOverlap, kNoTask,
                   "the blocks are not ascending ranges of the program");
      if (block.entry != block.tasks.first || !holds(block.exit) ||
          block.exit != block.tasks.first + block.tasks.count - 1)
        return damaged(kNoTask, "a block does not begin with its entry and end with its exit");
      if (block.repeat < 1)
        return add(PlanProblemCode::kBlockNeverEnds, block.entry, "a block runs less than once");
      if (holds(c_.end()))
        return add(PlanProblemCode::kNotAllowedInBlock, c_.end(), "the end task is in a block");
      free = block.tasks.first + std::int64_t{block.tasks.count};
    }
    if (c_.latch_count < 0 || c_.share_whole < 1) return damaged(kNoTask, "a count is negative");
    // With this limit, sums of shares stay far below the largest integer.
    for (const Share& share : c_.shares) {
      if (share.from < 0 || share.to < share.from || share.to > c_.share_whole)
        return damaged(kNoTask, "a share of a duration is not between 0 and 1");
    }
  }

  void look_at_tasks() {
    opened_.assign(c_.latch_count, false);
    std::size_t next_root = 0, block = 0;
    std::int64_t edge = 0;
    for (TaskId t = 0; t < c_.tasks && problems_.size() < kEnough; ++t) {
      if ((t & (kPassed - 1)) == 0 && passed_) passed_(t);
      while (block < c_.blocks.size() &&
             t - c_.blocks[block].tasks.first >= c_.blocks[block].tasks.count)
        ++block;
      const Block* const own = block < c_.blocks.size() && t >= c_.blocks[block].tasks.first
                                   ? &c_.blocks[block]
                                   : nullptr;
      const bool root = next_root < c_.roots.size() && c_.roots[next_root] == t;
      if (root) ++next_root;
      look_at_predecessors(t, root);
      look_at_task(t, own);
      if (root && own && t != own->entry)
        add(PlanProblemCode::kBlockEnteredElsewhere, t,
            fmt::format("task {} is in a block but has no predecessor", t));
      const std::int64_t end = c_.edges_end[t];
      if (end < edge || end > c_.edges)
        return damaged(t, "the edges of task {} are out of range", t);
      if (end == edge && t != c_.end())
        add(PlanProblemCode::kNotAwaited, t,
            fmt::format("the end of the step does not wait for task {}", t));
      for (; edge < end; ++edge) {
        const TaskId to = c_.successors[edge];
        if (to <= t || to >= c_.tasks)
          return damaged(t, "an edge leads from task {} to task {}", t, to);
        if (std::int32_t* const arrived = arrived_.find(to))
          ++*arrived;
        else
          arrived_.insert(to, 1);
        look_at_edge(t, own, to);
      }
    }
  }

  /// Checks that a task has the stated number of incoming edges. Edges lead only to higher task
  /// numbers, so all these edges have been read already.
  void look_at_predecessors(TaskId t, bool root) {
    const std::int32_t* const arrived = arrived_.find(t);
    const std::int32_t found = arrived ? *arrived : 0;
    if (arrived) arrived_.erase(t);
    if (found != c_.predecessors[t])
      damaged(t, "task {} has {} predecessors instead of {}", t, found, c_.predecessors[t]);
    if (root != (found == 0))
      damaged(t, "task {} is a root but has predecessors, or has no predecessors but is not a root",
              t);
  }

  void look_at_task(TaskId t, const Block* own) {
    const Task task = c_.task(t);
    if (task.kind > Task::Kind::kMark) damaged(t, "task {} has an unknown kind", t);
    if (task.kind == Task::Kind::kCompute) look_at_cost(t, task);
    const auto is_latch = [this](std::int32_t latch) {
      return latch >= -1 && latch < c_.latch_count;
    };
    if (!is_latch(task.latch) || !is_latch(task.opens))
      return damaged(t,
                     "task {} refers to a latch (which delays tasks until another task opens it) "
                     "that does not exist",
                     t);
    if (own && (task.latch >= 0 || task.opens >= 0))
      add(PlanProblemCode::kNotAllowedInBlock, t,
          fmt::format("task {} waits for a latch or opens a latch, but is in a block", t));
    if (task.latch >= 0 && !opened_[task.latch])
      add(PlanProblemCode::kLatchNeverOpened, t,
          fmt::format("no task before task {} opens latch {}, for which this task waits", t,
                      task.latch));
    if (task.opens >= 0) {
      if (opened_[task.opens])
        add(PlanProblemCode::kLatchOpenedTwice, t,
            fmt::format("task {} opens latch {} a second time", t, task.opens));
      opened_[task.opens] = true;
    }
    if (task.every_steps < 1)
      add(PlanProblemCode::kNeverTakesPart, t,
          fmt::format("task {} is executed every {} training steps; expected at least 1", t,
                      task.every_steps));
    if (task.number_stride != 0 && !own)
      add(PlanProblemCode::kNumberOutsideBlock, t,
          fmt::format("task {} has a different number in each iteration, but is not in a block of "
                      "iterations",
                      t));
  }

  void look_at_cost(TaskId t, const Task& task) {
    const TaskCost& cost = task.cost;
    const bool has_row = cost.kind == TaskCost::Kind::kTime || cost.kind == TaskCost::Kind::kShares;
    const auto shares = std::ssize(c_.shares);
    if (task.compute > ComputeKind::kHostGap || cost.kind > TaskCost::Kind::kOwnTime ||
        cost.value < 0 || cost.value > (has_row ? rows_ - 1 : kMaxValue) || cost.shares.first < 0 ||
        cost.shares.count < 0 || cost.shares.count > shares ||
        cost.shares.first > shares - cost.shares.count)
      damaged(t, "task {} refers to a duration that does not exist", t);
  }

  void look_at_edge(TaskId t, const Block* own, TaskId to) {
    const bool stays = own && to - own->tasks.first < own->tasks.count;
    if (stays) return;
    if (own && t != own->exit)
      add(PlanProblemCode::kBlockLeftElsewhere, t,
          fmt::format("task {} leaves its block without passing the exit", t));
    if (const std::int32_t b = c_.block_of(to); b >= 0 && to != c_.blocks[b].entry)
      add(PlanProblemCode::kBlockEnteredElsewhere, to,
          fmt::format("task {} enters a block without passing the entry", to));
  }

  static constexpr TaskId kPassed = 1 << 18;
  /// The largest permitted cost of a task: about a day in picoseconds, or a hundred petabytes in
  /// bytes.
  static constexpr std::int64_t kMaxValue = 100'000'000'000'000'000;
  static constexpr std::size_t kEnough = 20;  ///< the check stops when it has found this number of
                                              ///< problems
  TaskColumns c_;
  std::int64_t rows_;
  const std::function<void(TaskId)>& passed_;
  TaskCounts arrived_;        ///< for each task that the check has not reached yet: number of edges
                              ///< to it so far
  std::vector<bool> opened_;  ///< for each latch: true if an earlier task opens the latch
  std::vector<PlanProblem> problems_;
};

}  // namespace

std::vector<PlanProblem> problems_of(const TaskColumns& columns, std::int64_t rows,
                                     const std::function<void(TaskId)>& passed) {
  return ColumnChecker(columns, rows, passed).problems();
}

}  // namespace tutti::core
