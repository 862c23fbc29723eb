#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/plan/plan_problem.h"
#include "core/plan/program.h"

namespace tutti::core {

/// A program as columns, which lie in memory or in a mapped file (program_file.h). What most tasks
/// do not have is a column that may be left out. Tasks are ordered so that edges lead to higher
/// numbers only: a run moves through the columns from front to back, and none of them can wait for
/// itself. The rules of program.h hold. The end is the last task; a block's entry is its first task
/// and its exit its last one; a hold is opened by a task with a lower number than those that it
/// holds.
struct TaskColumns {
  /// One byte for each task.
  static std::uint8_t packed_kinds(const Task& task);

  std::int64_t tasks = 0;
  const std::uint8_t* kinds = nullptr;         ///< Task::kind, compute, reported, TaskCost::kind
  const std::int32_t* predecessors = nullptr;  ///< how many
  const std::int64_t* edges_end =
      nullptr;  ///< in `successors`: the end of the task's; they begin where those before it end
  const std::int32_t* successors = nullptr;  ///< in the order in which they are followed
  std::int64_t edges = 0;                    ///< the length of `successors`
  const std::int64_t* values = nullptr;      ///< TaskCost::value; left out: 0
  const std::int32_t* packs = nullptr;       ///< left out: -1, as the next three
  const std::int32_t* indices = nullptr;
  const std::int32_t* holds = nullptr;
  const std::int32_t* opens = nullptr;
  const std::int32_t* every_steps = nullptr;     ///< left out: 1
  const std::int32_t* numbers = nullptr;         ///< left out: 0
  const std::int32_t* number_strides = nullptr;  ///< left out: 0
  const IndexRange* cost_shares = nullptr;       ///< left out: none
  std::span<const TaskId> roots;
  std::span<const Block> blocks;  ///< `joins` means nothing here
  std::span<const Share> shares;
  std::int64_t share_whole = 1;
  std::int32_t hold_count = 0;

  [[nodiscard]] TaskId end() const { return static_cast<TaskId>(tasks) - 1; }
  [[nodiscard]] std::int64_t first_edge(TaskId t) const { return t == 0 ? 0 : edges_end[t - 1]; }
  [[nodiscard]] Task::Kind kind(TaskId t) const { return static_cast<Task::Kind>(kinds[t] & 3); }
  [[nodiscard]] std::int32_t hold(TaskId t) const { return holds ? holds[t] : -1; }
  [[nodiscard]] std::int32_t opened(TaskId t) const { return opens ? opens[t] : -1; }
  [[nodiscard]] Task task(TaskId t) const;
  /// The block that `task` is in; -1: none. Cost: logarithmic in the blocks.
  [[nodiscard]] std::int32_t block_of(TaskId task) const;
};

/// Returns what keeps columns from being run to their end, the first of them; empty if nothing
/// does. Takes any columns whose lengths are true, with whatever in them. `rows`: those of
/// Durations. Reads them once, from front to back; `passed`, if any, hears now and then before
/// which task they are not looked at any more.
/// Memory: TaskCounts of the tasks to which edges lead across one place.
std::vector<PlanProblem> problems_of(const TaskColumns& columns, std::int64_t rows,
                                     const std::function<void(TaskId)>& passed = {});

/// The columns of a program in memory.
class OwnedColumns {
 public:
  /// REQUIRES: problems_of(program) is empty and has_forward_edges(program).
  explicit OwnedColumns(const Program& program);
  OwnedColumns(const OwnedColumns&) = delete;
  OwnedColumns& operator=(const OwnedColumns&) = delete;
  [[nodiscard]] const TaskColumns& columns() const { return columns_; }

 private:
  std::vector<std::uint8_t> kinds_;
  std::vector<std::int32_t> predecessors_, packs_, indices_, holds_, opens_, every_steps_, numbers_, strides_;
  std::vector<std::int64_t> edges_end_, values_;
  std::vector<IndexRange> cost_shares_;
  Program program_;  ///< what needs no change
  TaskColumns columns_;
};

/// True if all edges lead to higher numbers, and what else TaskColumns say of the order of tasks.
bool has_forward_edges(const Program& program);

}  // namespace tutti::core
