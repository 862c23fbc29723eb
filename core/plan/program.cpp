#include "core/plan/program.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

bool contains(const IndexRange& range, std::int32_t index) {
  return index >= range.first && index - range.first < range.count;
}

/// Marks everything from which `to` can be reached, going backwards along `edges` from it.
std::vector<bool> ancestors(const std::vector<std::vector<TaskId>>& edges_back, TaskId to) {
  std::vector<bool> seen(edges_back.size(), false);
  std::vector<TaskId> open{to};
  seen[static_cast<std::size_t>(to)] = true;
  while (!open.empty()) {
    const TaskId task = open.back();
    open.pop_back();
    for (const TaskId before : edges_back[static_cast<std::size_t>(task)]) {
      if (seen[static_cast<std::size_t>(before)]) continue;
      seen[static_cast<std::size_t>(before)] = true;
      open.push_back(before);
    }
  }
  return seen;
}

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program), back_(program.tasks.size()) {
    std::vector<TaskId> opener(static_cast<std::size_t>(program.holds), kNoTask);
    for (TaskId t = 0; t < program.size(); ++t) {
      if (const std::int32_t hold = task(t).opens; hold >= 0) opener[static_cast<std::size_t>(hold)] = t;
    }
    for (TaskId t = 0; t < program.size(); ++t) {
      for (std::int32_t e = edge_begin(t); e < edge_end(t); ++e) back_[index(successor(e))].push_back(t);
    }
    for (TaskId t = 0; t < program.size(); ++t) {
      if (task(t).hold < 0) continue;
      const TaskId opens = opener[static_cast<std::size_t>(task(t).hold)];
      if (opens == kNoTask)
        problems_.push_back(fmt::format("task {} waits for hold {}, which no task opens", t, task(t).hold));
      else
        back_[index(t)].push_back(opens);
    }
  }

  std::vector<std::string> problems() && {
    if (program_.end < 0 || program_.end >= program_.size()) {
      problems_.push_back("the program has no end task");
      return std::move(problems_);
    }
    look_for_cycles();
    const std::vector<bool> before_end = ancestors(back_, program_.end);
    for (TaskId t = 0; t < program_.size(); ++t) {
      if (!before_end[index(t)]) problems_.push_back(fmt::format("the end of the step does not wait for task {}", t));
    }
    for (const Block& block : program_.blocks) look_at(block);
    return std::move(problems_);
  }

 private:
  static std::size_t index(TaskId task) { return static_cast<std::size_t>(task); }
  [[nodiscard]] const Task& task(TaskId t) const { return program_.tasks[index(t)]; }
  [[nodiscard]] std::int32_t edge_begin(TaskId t) const { return program_.first_edge[index(t)]; }
  [[nodiscard]] std::int32_t edge_end(TaskId t) const { return program_.first_edge[index(t) + 1]; }
  [[nodiscard]] TaskId successor(std::int32_t e) const { return program_.successors[static_cast<std::size_t>(e)]; }

  void look_for_cycles() {
    std::vector<std::int32_t> missing(back_.size());
    std::vector<std::vector<TaskId>> forward(back_.size());
    std::vector<TaskId> open;
    for (std::size_t t = 0; t < back_.size(); ++t) {
      missing[t] = static_cast<std::int32_t>(back_[t].size());
      if (missing[t] == 0) open.push_back(static_cast<TaskId>(t));
      for (const TaskId before : back_[t]) forward[index(before)].push_back(static_cast<TaskId>(t));
    }
    std::size_t reached = 0;
    while (!open.empty()) {
      const TaskId t = open.back();
      open.pop_back();
      ++reached;
      for (const TaskId next : forward[index(t)]) {
        if (--missing[index(next)] == 0) open.push_back(next);
      }
    }
    if (reached == back_.size()) return;
    const auto first = std::find_if(missing.begin(), missing.end(), [](std::int32_t m) { return m > 0; });
    problems_.push_back(
        fmt::format("{} tasks wait for each other in a circle or for one that does; the first is task {}",
                    back_.size() - reached, first - missing.begin()));
  }

  void look_at(const Block& block) {
    const std::vector<bool> before_exit = ancestors(back_, block.exit);
    for (TaskId t = block.tasks.first; t < block.tasks.first + block.tasks.count; ++t) {
      if (!before_exit[index(t)])
        problems_.push_back(
            fmt::format("task {} of a block can outlast its iteration: the exit does not wait for it", t));
      if (task(t).hold >= 0 || task(t).opens >= 0)
        problems_.push_back(fmt::format("task {} is in a block, where nothing can be held", t));
      for (const TaskId before : back_[index(t)]) {
        if (t != block.entry && !contains(block.tasks, before))
          problems_.push_back(fmt::format("task {} enters a block beside its entry", t));
      }
      for (std::int32_t e = edge_begin(t); t != block.exit && e < edge_end(t); ++e) {
        if (!contains(block.tasks, successor(e)))
          problems_.push_back(fmt::format("task {} leaves a block beside its exit", t));
      }
    }
  }

  const Program& program_;
  std::vector<std::vector<TaskId>> back_;  ///< by task: what it waits for
  std::vector<std::string> problems_;
};

}  // namespace

std::int32_t Program::block_of(TaskId task) const {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (contains(blocks[b].tasks, task)) return static_cast<std::int32_t>(b);
  }
  return -1;
}

TaskId ProgramBuilder::add(const Task& task) {
  program_.tasks.push_back(task);
  return program_.size() - 1;
}

void ProgramBuilder::edge(TaskId from, TaskId to) {
  TUTTI_CHECK(from >= 0 && from < size() && to >= 0 && to < size(), "an edge from {} to {} of {} tasks", from, to,
              size());
  edges_.push_back({from, to});
}

IndexRange ProgramBuilder::add_shares(const std::vector<Share>& shares) {
  const IndexRange range{static_cast<std::int32_t>(program_.shares.size()), static_cast<std::int32_t>(shares.size())};
  program_.shares.insert(program_.shares.end(), shares.begin(), shares.end());
  return range;
}

void ProgramBuilder::repeat_since(TaskId entry, std::int32_t repeat) {
  program_.blocks.push_back({{entry, size() - entry}, entry, size() - 1, repeat, {}});
}

Program ProgramBuilder::build(TaskId end) && {
  Program& p = program_;
  p.end = end;
  std::vector<std::int32_t> count(p.tasks.size(), 0);
  p.first_edge.assign(p.tasks.size() + 1, 0);
  for (const Edge& edge : edges_) {
    ++p.first_edge[static_cast<std::size_t>(edge.from) + 1];
    ++count[static_cast<std::size_t>(edge.to)];
  }
  for (std::size_t t = 0; t < p.tasks.size(); ++t) p.first_edge[t + 1] += p.first_edge[t];
  p.successors.resize(edges_.size());
  std::vector<std::int32_t> next(p.first_edge.begin(), p.first_edge.end() - 1);
  for (const Edge& edge : edges_)
    p.successors[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.from)]++)] = edge.to;
  p.join.assign(p.tasks.size(), -1);
  for (std::size_t t = 0; t < p.tasks.size(); ++t) {
    if (count[t] == 0) p.roots.push_back(static_cast<TaskId>(t));
    if (count[t] < 2) continue;
    p.join[t] = static_cast<std::int32_t>(p.predecessors.size());
    p.predecessors.push_back(count[t]);
  }
  for (Block& block : p.blocks) {
    for (TaskId t = block.tasks.first; t < block.tasks.first + block.tasks.count; ++t) {
      const std::int32_t join = p.join[static_cast<std::size_t>(t)];
      if (join < 0) continue;
      if (block.joins.count == 0) block.joins.first = join;
      ++block.joins.count;
    }
  }
  const std::vector<std::string> problems = problems_of(p);
  TUTTI_CHECK(problems.empty(), "a program of {} tasks cannot be run: {}", p.size(), problems.front());
  return std::move(program_);
}

std::vector<std::string> problems_of(const Program& program) { return Checker(program).problems(); }

}  // namespace tutti::core
