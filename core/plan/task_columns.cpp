#include "core/plan/task_columns.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {

// Bits 0 and 1 hold the task's kind. For a mark, bit 2 holds `reported`. For a computation, bits 2
// to 4 hold its kind, and bits 5 to 7 the kind of its cost.
std::uint8_t TaskColumns::packed_kinds(const Task& task) {
  unsigned packed = static_cast<unsigned>(task.kind);
  if (task.kind == Task::Kind::kMark) packed |= task.reported ? 4U : 0U;
  if (task.kind == Task::Kind::kCompute)
    packed |= static_cast<unsigned>(task.compute) << 2 | static_cast<unsigned>(task.cost.kind) << 5;
  return static_cast<std::uint8_t>(packed);
}

Task TaskColumns::task(TaskId t) const {
  const unsigned packed = kinds[t];
  Task task;
  task.kind = static_cast<Task::Kind>(packed & 3);
  if (task.kind == Task::Kind::kMark) task.reported = (packed >> 2 & 1) != 0;
  if (task.kind == Task::Kind::kCompute) {
    task.compute = static_cast<ComputeKind>(packed >> 2 & 7);
    task.cost.kind = static_cast<TaskCost::Kind>(packed >> 5);
    task.cost.value = values ? values[t] : 0;
    if (cost_shares) task.cost.shares = cost_shares[t];
  }
  if (packs) task.pack = packs[t];
  if (indices) task.index = indices[t];
  if (latches) task.latch = latches[t];
  if (opens) task.opens = opens[t];
  if (every_steps) task.every_steps = every_steps[t];
  if (numbers) task.number = numbers[t];
  if (number_strides) task.number_stride = number_strides[t];
  return task;
}

std::int32_t TaskColumns::block_of(TaskId task) const {
  const auto after =
      std::upper_bound(blocks.begin(), blocks.end(), task,
                       [](TaskId t, const Block& block) { return t < block.tasks.first; });
  if (after == blocks.begin()) return -1;
  const Block& block = *std::prev(after);
  return task - block.tasks.first < block.tasks.count
             ? static_cast<std::int32_t>(std::prev(after) - blocks.begin())
             : -1;
}

bool has_forward_edges(const Program& program) {
  if (program.end != program.size() - 1 ||
      !std::is_sorted(program.roots.begin(), program.roots.end()))
    return false;
  for (std::size_t b = 1; b < program.blocks.size(); ++b) {
    if (program.blocks[b].tasks.first <= program.blocks[b - 1].tasks.first) return false;
  }
  for (const Block& block : program.blocks) {
    if (block.entry != block.tasks.first || block.exit != block.tasks.first + block.tasks.count - 1)
      return false;
  }
  std::vector<bool> opened(program.latches, false);
  for (TaskId t = 0; t < program.size(); ++t) {
    const Task& task = program.tasks[t];
    if (task.latch >= 0 && !opened[task.latch]) return false;
    if (task.opens >= 0) opened[task.opens] = true;
    for (std::int32_t e = program.first_edge[t]; e < program.first_edge[t + 1]; ++e) {
      if (program.successors[e] <= t) return false;
    }
  }
  return true;
}

OwnedColumns::OwnedColumns(const Program& program) : program_(program) {
  TUTTI_CHECK(has_forward_edges(program), "a program of {} tasks has edges to lower numbers",
              program.size());
  predecessors_.assign(program.tasks.size(), 0);
  for (const TaskId to : program.successors) ++predecessors_[to];
  for (TaskId t = 0; t < program.size(); ++t) {
    const Task& task = program.tasks[t];
    kinds_.push_back(TaskColumns::packed_kinds(task));
    edges_end_.push_back(program.first_edge[t + 1]);
    values_.push_back(task.cost.value);
    packs_.push_back(task.pack);
    indices_.push_back(task.index);
    latches_.push_back(task.latch);
    opens_.push_back(task.opens);
    every_steps_.push_back(task.every_steps);
    numbers_.push_back(task.number);
    strides_.push_back(task.number_stride);
    cost_shares_.push_back(task.cost.shares);
  }
  program_.tasks.clear();
  columns_.tasks = std::ssize(kinds_);
  columns_.kinds = kinds_.data();
  columns_.predecessors = predecessors_.data();
  columns_.edges_end = edges_end_.data();
  columns_.successors = program_.successors.data();
  columns_.edges = std::ssize(program_.successors);
  columns_.values = values_.data();
  columns_.packs = packs_.data();
  columns_.indices = indices_.data();
  columns_.latches = latches_.data();
  columns_.opens = opens_.data();
  columns_.every_steps = every_steps_.data();
  columns_.numbers = numbers_.data();
  columns_.number_strides = strides_.data();
  columns_.cost_shares = cost_shares_.data();
  columns_.roots = program_.roots;
  columns_.blocks = program_.blocks;
  columns_.shares = program_.shares;
  columns_.share_whole = program_.share_whole;
  columns_.latch_count = program_.latches;
}

}  // namespace tutti::core
