#include "core/plan/program.h"

#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/plan/check_program.h"

namespace tutti::core {
namespace {

// The memory for each task that program.h states: the task, and its elements of `first_edge` and
// `join`.
static_assert(sizeof(Task) + 2 * sizeof(std::int32_t) == 64);

bool contains(const IndexRange& range, std::int32_t index) {
  return index >= range.first && index - range.first < range.count;
}

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
  TUTTI_CHECK(from >= 0 && from < size() && to >= 0 && to < size(),
              "the edge from task {} to task {} has an end outside the {} tasks", from, to, size());
  edges_.push_back({from, to});
}

IndexRange ProgramBuilder::add_shares(const std::vector<Share>& shares) {
  const IndexRange range{static_cast<std::int32_t>(program_.shares.size()),
                         static_cast<std::int32_t>(shares.size())};
  program_.shares.insert(program_.shares.end(), shares.begin(), shares.end());
  return range;
}

void ProgramBuilder::repeat_since(TaskId entry, std::int32_t repeat) {
  program_.blocks.push_back({{entry, size() - entry}, entry, size() - 1, repeat, {}});
}

Program ProgramBuilder::build_unchecked(TaskId end) && {
  Program& p = program_;
  p.end = end;
  std::vector<std::int32_t> count(p.tasks.size(), 0);
  p.first_edge.assign(p.tasks.size() + 1, 0);
  for (const Edge& edge : edges_) {
    ++p.first_edge[edge.from + 1];
    ++count[edge.to];
  }
  for (std::size_t t = 0; t < p.tasks.size(); ++t) p.first_edge[t + 1] += p.first_edge[t];
  p.successors.resize(edges_.size());
  std::vector<std::int32_t> next(p.first_edge.begin(), p.first_edge.end() - 1);
  for (const Edge& edge : edges_) p.successors[next[edge.from]++] = edge.to;
  p.join.assign(p.tasks.size(), -1);
  for (std::size_t t = 0; t < p.tasks.size(); ++t) {
    if (count[t] == 0) p.roots.push_back(static_cast<TaskId>(t));
    if (count[t] < 2) continue;
    p.join[t] = static_cast<std::int32_t>(p.predecessors.size());
    p.predecessors.push_back(count[t]);
  }
  for (Block& block : p.blocks) {
    for (TaskId t = block.tasks.first; t < block.tasks.first + block.tasks.count; ++t) {
      const std::int32_t join = p.join[t];
      if (join < 0) continue;
      if (block.joins.count == 0) block.joins.first = join;
      ++block.joins.count;
    }
  }
  return std::move(program_);
}

Program ProgramBuilder::build(TaskId end) && {
  Program program = std::move(*this).build_unchecked(end);
  const std::vector<PlanProblem> problems = problems_of(program);
  TUTTI_CHECK(problems.empty(), "a program of {} tasks cannot be run: {}", program.size(),
              problems.front().text);
  return program;
}

}  // namespace tutti::core
