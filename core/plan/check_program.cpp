// Looks for errors in a single program that would prevent its training step from ending. Indices
// are checked first, because the other checks use them. If a task waits for a latch, the check
// treats the task that opens the latch as its predecessor. The search for cycles therefore also
// finds cycles through latches.
//
// A program has no edges between training steps, because a step begins only when the previous step
// has ended. Every cycle therefore lies within one step.

#include "core/plan/check_program.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace tutti::core {
namespace {

/// True if `index` is -1 ("none") or an index below `count`.
bool is_index_or_none(std::int32_t index, std::int64_t count) {
  return index >= -1 && index < count;
}

class ProgramChecker {
 public:
  explicit ProgramChecker(const Program& program) : program_(program) {}

  std::vector<PlanProblem> problems() && {
    if (!look_at_indices()) return std::move(problems_);
    if (program_.end < 0 || program_.end >= program_.size()) {
      add(PlanProblemCode::kNoEnd, kNoTask, "the program has no end task");
      return std::move(problems_);
    }
    find_predecessors();
    look_at_counts();
    look_at_tasks();
    look_for_cycles();
    mark_ancestors(program_.end);
    for (TaskId t = 0; t < program_.size(); ++t) {
      if (!seen_[t])
        add(PlanProblemCode::kNotAwaited, t,
            fmt::format("the end of the step does not wait for {}", name(t)));
    }
    for (const Block& block : program_.blocks) look_at(block);
    return std::move(problems_);
  }

 private:
  [[nodiscard]] const Task& task(TaskId t) const { return program_.tasks[t]; }
  [[nodiscard]] std::string name(TaskId t) const {
    return fmt::format("{} (task {})", label_of(task(t)), t);
  }

  void add(PlanProblemCode code, TaskId t, std::string text) {
    PlanProblem problem{code, t, -1, -1, -1, std::move(text)};
    if (t != kNoTask) {
      problem.pack = task(t).pack;
      problem.index = task(t).index;
    }
    problems_.push_back(std::move(problem));
  }

  // --- indices ---

  /// Returns false if an index is out of range; the other checks must not run in this case.
  bool look_at_indices() {
    const std::size_t before = problems_.size();
    const auto damaged = [this](TaskId t, std::string text) {
      add(PlanProblemCode::kDamaged, t, std::move(text));
    };
    const Program& p = program_;
    if (p.first_edge.size() != p.tasks.size() + 1 || p.join.size() != p.tasks.size()) {
      damaged(kNoTask, "the arrays of the program have different lengths");
      return false;
    }
    const auto edges = static_cast<std::int64_t>(p.successors.size());
    if (p.first_edge.front() != 0 || p.first_edge.back() != edges ||
        !std::is_sorted(p.first_edge.begin(), p.first_edge.end()))
      damaged(kNoTask, "the edges of a task are not a range of all edges");
    for (const TaskId to : p.successors) {
      if (to >= 0 && to < p.size()) continue;
      damaged(kNoTask,
              fmt::format("an edge leads to task {}, but there are only {} tasks", to, p.size()));
      break;
    }
    for (TaskId t = 0; t < p.size(); ++t) {
      const Task& one = task(t);
      if (!is_index_or_none(one.latch, p.latches) || !is_index_or_none(one.opens, p.latches))
        damaged(t, fmt::format("{} refers to a latch (which delays tasks until another task opens "
                               "it) that does not exist",
                               name(t)));
      if (!is_index_or_none(p.join[t], std::ssize(p.predecessors)))
        damaged(t,
                fmt::format("{} refers to a count of predecessors that does not exist", name(t)));
      if (one.kind == Task::Kind::kCompute) look_at_cost(t, one.cost);
    }
    for (const TaskId root : p.roots) {
      if (root < 0 || root >= p.size()) damaged(kNoTask, "a root is not a task");
    }
    for (const Block& block : p.blocks) {
      const IndexRange& tasks = block.tasks;
      const bool inside =
          tasks.first >= 0 && tasks.count >= 1 && tasks.first <= p.size() - tasks.count;
      const auto holds = [&](TaskId t) {
        return t >= tasks.first && t - tasks.first < tasks.count;
      };
      if (!inside || !holds(block.entry) || !holds(block.exit))
        damaged(kNoTask,
                fmt::format("a block of {} tasks starting at task {} is outside the program",
                            tasks.count, tasks.first));
      const IndexRange& joins = block.joins;
      if (joins.first < 0 || joins.count < 0 || joins.count > std::ssize(p.predecessors) ||
          joins.first > std::ssize(p.predecessors) - joins.count)
        damaged(kNoTask, "the range of predecessor counts of a block is outside the program");
    }
    return problems_.size() == before;
  }

  void look_at_cost(TaskId t, const TaskCost& cost) {
    const auto shares = std::ssize(program_.shares);
    const bool whole = program_.share_whole > 0 && cost.shares.first >= 0 &&
                       cost.shares.count >= 0 && cost.shares.count <= shares &&
                       cost.shares.first <= shares - cost.shares.count;
    if (cost.value < 0 || (cost.kind == TaskCost::Kind::kShares && !whole))
      add(PlanProblemCode::kDamaged, t,
          fmt::format("{} refers to a duration that does not exist", name(t)));
  }

  /// Checks the data that ProgramBuilder derives from the edges.
  void look_at_counts() {
    std::vector<std::int32_t> count(program_.tasks.size(), 0);
    for (const TaskId to : program_.successors) ++count[to];
    std::vector<bool> is_root(program_.tasks.size(), false);
    for (const TaskId root : program_.roots) {
      if (count[root] > 0 || is_root[root])
        add(PlanProblemCode::kDamaged, root,
            fmt::format("{} is listed as a root twice, or although it has predecessors",
                        name(root)));
      is_root[root] = true;
    }
    for (TaskId t = 0; t < program_.size(); ++t) {
      const std::int32_t join = program_.join[t];
      const std::int32_t stated = join < 0 ? std::min(count[t], 1) : program_.predecessors[join];
      if (stated != count[t] || (count[t] == 0 && !is_root[t]))
        add(PlanProblemCode::kDamaged, t,
            fmt::format("{} has {} predecessors, which does not match the edges that lead to it",
                        name(t), count[t]));
    }
    for (const Block& block : program_.blocks) {
      std::int32_t joins = 0;
      bool all_inside = true;
      for (TaskId t = block.tasks.first; t < block.tasks.first + block.tasks.count; ++t) {
        const std::int32_t join = program_.join[t];
        if (join < 0) continue;
        ++joins;
        all_inside &= join >= block.joins.first && join - block.joins.first < block.joins.count;
      }
      if (!all_inside || joins != block.joins.count)
        add(PlanProblemCode::kDamaged, block.entry,
            fmt::format("the range of predecessor counts of the block that begins with {} does not "
                        "match the tasks of the block",
                        name(block.entry)));
    }
  }

  // --- edges ---

  /// Collects, for each task, its predecessors and the task that opens its latch.
  void find_predecessors() {
    std::vector<TaskId> opener(program_.latches, kNoTask);
    for (TaskId t = 0; t < program_.size(); ++t) {
      const std::int32_t latch = task(t).opens;
      if (latch < 0) continue;
      if (opener[latch] != kNoTask)
        add(PlanProblemCode::kLatchOpenedTwice, t,
            fmt::format("{} and {} open the same latch", name(opener[latch]), name(t)));
      opener[latch] = t;
    }
    first_before_.assign(program_.tasks.size() + 1, 0);
    const auto each_edge = [&](const auto& visit) {
      for (TaskId t = 0; t < program_.size(); ++t) {
        for (std::int32_t e = program_.first_edge[t]; e < program_.first_edge[t + 1]; ++e)
          visit(t, program_.successors[e]);
        if (const std::int32_t latch = task(t).latch; latch >= 0 && opener[latch] != kNoTask)
          visit(opener[latch], t);
      }
    };
    each_edge([&](TaskId, TaskId to) { ++first_before_[to + 1]; });
    std::partial_sum(first_before_.begin(), first_before_.end(), first_before_.begin());
    before_.resize(first_before_.back());
    std::vector<std::int32_t> next(first_before_.begin(), first_before_.end() - 1);
    each_edge([&](TaskId from, TaskId to) { before_[next[to]++] = from; });
    for (TaskId t = 0; t < program_.size(); ++t) {
      if (task(t).latch >= 0 && opener[task(t).latch] == kNoTask)
        add(PlanProblemCode::kLatchNeverOpened, t,
            fmt::format("{} waits forever for latch {}, because no task opens this latch", name(t),
                        task(t).latch));
    }
  }
  template <class Visit>
  void each_before(TaskId t, const Visit& visit) const {
    for (std::int32_t e = first_before_[t]; e < first_before_[t + 1]; ++e) visit(before_[e]);
  }

  /// Sets seen_ for the task `to` and for all tasks that `to` waits for, directly or indirectly.
  void mark_ancestors(TaskId to) {
    seen_.assign(program_.tasks.size(), false);
    std::vector<TaskId> open{to};
    seen_[to] = true;
    while (!open.empty()) {
      const TaskId t = open.back();
      open.pop_back();
      each_before(t, [&](TaskId before) {
        if (seen_[before]) return;
        seen_[before] = true;
        open.push_back(before);
      });
    }
  }

  void look_for_cycles() {
    std::vector<std::int32_t> missing(program_.tasks.size());
    std::vector<TaskId> open;
    for (TaskId t = 0; t < program_.size(); ++t) {
      missing[t] = first_before_[t + 1] - first_before_[t];
      if (missing[t] == 0) open.push_back(t);
    }
    std::vector<std::vector<TaskId>> latched(program_.latches);
    for (TaskId t = 0; t < program_.size(); ++t) {
      if (task(t).latch >= 0) latched[task(t).latch].push_back(t);
    }
    std::size_t reached = 0;
    const auto arrive = [&](TaskId t) {
      if (--missing[t] == 0) open.push_back(t);
    };
    std::vector<bool> opened(program_.latches, false);
    while (!open.empty()) {
      const TaskId t = open.back();
      open.pop_back();
      ++reached;
      for (std::int32_t e = program_.first_edge[t]; e < program_.first_edge[t + 1]; ++e)
        arrive(program_.successors[e]);
      if (const std::int32_t latch = task(t).opens; latch >= 0 && !opened[latch]) {
        opened[latch] = true;
        for (const TaskId waits : latched[latch]) arrive(waits);
      }
    }
    if (reached == program_.tasks.size()) return;
    // Each task that is not sorted yet waits for another such task. Following these dependencies
    // backwards therefore leads into a cycle.
    TaskId t = static_cast<TaskId>(
        std::find_if(missing.begin(), missing.end(), [](std::int32_t m) { return m > 0; }) -
        missing.begin());
    std::vector<bool> passed(program_.tasks.size(), false);
    const auto back = [&](TaskId from) {
      TaskId to = kNoTask;
      each_before(from, [&](TaskId before) {
        if (to == kNoTask && missing[before] > 0) to = before;
      });
      return to;
    };
    while (t != kNoTask && !passed[t]) {
      passed[t] = true;
      t = back(t);
    }
    if (t == kNoTask) return;  // a latch is opened twice, which is reported as its own problem
    std::string circle = name(t);
    int names = 1;
    for (TaskId at = back(t); at != t; at = back(at)) {
      if (++names <= kNamedInCycle) circle += " waits for " + name(at);
    }
    if (names > kNamedInCycle)
      circle += fmt::format(" waits for … ({} more)", names - kNamedInCycle);
    add(PlanProblemCode::kCycle, t,
        fmt::format("tasks wait for each other in a cycle: {} waits for {}", circle,
                    names == 1 ? "itself" : "the first"));
  }

  // --- tasks and blocks ---

  void look_at_tasks() {
    std::vector<bool> in_block(program_.tasks.size(), false);
    for (const Block& block : program_.blocks) {
      for (TaskId t = block.tasks.first; t < block.tasks.first + block.tasks.count; ++t) {
        if (in_block[t])
          add(PlanProblemCode::kBlocksOverlap, t, fmt::format("{} is in two blocks", name(t)));
        in_block[t] = true;
      }
    }
    for (TaskId t = 0; t < program_.size(); ++t) {
      const Task& one = task(t);
      if (one.every_steps < 1)
        add(PlanProblemCode::kNeverTakesPart, t,
            fmt::format("{} is executed every {} training steps; expected at least 1", name(t),
                        one.every_steps));
      if (one.number_stride != 0 && !in_block[t])
        add(PlanProblemCode::kNumberOutsideBlock, t,
            fmt::format(
                "{} has a different number in each iteration, but is not in a block of iterations",
                name(t)));
    }
  }

  void look_at(const Block& block) {
    const auto inside = [&](TaskId t) {
      return t >= block.tasks.first && t - block.tasks.first < block.tasks.count;
    };
    if (block.repeat < 1)
      add(PlanProblemCode::kBlockNeverEnds, block.entry,
          fmt::format("the block that begins with {} has {} iterations; expected at least 1",
                      name(block.entry), block.repeat));
    // Mark those tasks of the block for which the block's exit waits.
    std::vector<bool> awaited(block.tasks.count, false);
    std::vector<TaskId> open{block.exit};
    awaited[block.exit - block.tasks.first] = true;
    while (!open.empty()) {
      const TaskId t = open.back();
      open.pop_back();
      each_before(t, [&](TaskId before) {
        if (!inside(before) || awaited[before - block.tasks.first]) return;
        awaited[before - block.tasks.first] = true;
        open.push_back(before);
      });
    }
    for (TaskId t = block.tasks.first; t < block.tasks.first + block.tasks.count; ++t) {
      if (!awaited[t - block.tasks.first])
        add(PlanProblemCode::kOutlastsIteration, t,
            fmt::format("{} can outlast its iteration, because the exit of its block does not wait "
                        "for this task",
                        name(t)));
      if (task(t).latch >= 0 || task(t).opens >= 0 || t == program_.end)
        add(PlanProblemCode::kNotAllowedInBlock, t,
            fmt::format(
                "{} is in a block, and therefore must not wait for a latch, open a latch or "
                "end the step",
                name(t)));
      bool entered = false, left = false;
      each_before(t, [&](TaskId before) { entered |= !inside(before); });
      for (std::int32_t e = program_.first_edge[t]; e < program_.first_edge[t + 1]; ++e)
        left |= !inside(program_.successors[e]);
      entered |= first_before_[t] ==
                 first_before_[t + 1];  // a root would start only in the first iteration
      if (entered && t != block.entry)
        add(PlanProblemCode::kBlockEnteredElsewhere, t,
            fmt::format("{} enters a block without passing the entry", name(t)));
      if (left && t != block.exit)
        add(PlanProblemCode::kBlockLeftElsewhere, t,
            fmt::format("{} leaves a block without passing the exit", name(t)));
    }
    // An edge from a task of the block back to the block's entry is an error. Such an edge is a
    // cycle, so the checks above have already reported it.
  }

  static constexpr int kNamedInCycle = 6;

  const Program& program_;
  std::vector<std::int32_t> first_before_;  ///< for each task: index of the task's first element in
                                            ///< before_; the last element is the size of before_
  std::vector<TaskId> before_;
  std::vector<bool> seen_;
  std::vector<PlanProblem> problems_;
};

}  // namespace

std::vector<PlanProblem> problems_of(const Program& program) {
  return ProgramChecker(program).problems();
}

}  // namespace tutti::core
