#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/plan/plan_problem.h"
#include "core/plan/program.h"

namespace tutti::core {

/// A program that is stored as one array per field, in memory or in a mapped file (program_file.h).
/// The rules of program.h apply. Columns of rarely used fields may be omitted.
///
/// Edges lead only to higher task numbers. A run therefore reads the columns from front to back,
/// and no task can wait for itself. The last task is the program's end. The entry of a block is its
/// first task, and the exit is its last task. The task that opens a latch (program.h) has a
/// lower number than the tasks that wait for the latch.
struct TaskColumns {
  /// Returns the task's fields kind, compute, reported and cost.kind, packed into one byte.
  static std::uint8_t packed_kinds(const Task& task);

  std::int64_t tasks = 0;
  const std::uint8_t* kinds = nullptr;         ///< for each task: see packed_kinds()
  const std::int32_t* predecessors = nullptr;  ///< for each task: number of predecessors
  /// For each task: the index in `successors` at which its edges end. The edges of a task begin
  /// where the previous task's edges end.
  const std::int64_t* edges_end = nullptr;
  const std::int32_t* successors = nullptr;  ///< successors of all tasks, in the order in which the
                                             ///< runner follows the edges
  std::int64_t edges = 0;                    ///< length of `successors`
  const std::int64_t* values = nullptr;      ///< TaskCost::value; if omitted: 0
  const std::int32_t* packs = nullptr;  ///< Task::pack; if this column or one of the next three is
                                        ///< omitted, its value is -1 for all tasks
  const std::int32_t* indices = nullptr;
  const std::int32_t* latches = nullptr;
  const std::int32_t* opens = nullptr;
  const std::int32_t* every_steps = nullptr;     ///< if omitted: 1
  const std::int32_t* numbers = nullptr;         ///< if omitted: 0
  const std::int32_t* number_strides = nullptr;  ///< if omitted: 0
  const IndexRange* cost_shares = nullptr;       ///< if omitted: none
  std::span<const TaskId> roots;
  std::span<const Block> blocks;  ///< Block::joins is not used in columns
  std::span<const Share> shares;
  std::int64_t share_whole = 1;
  std::int32_t latch_count = 0;

  [[nodiscard]] TaskId end() const { return static_cast<TaskId>(tasks) - 1; }
  [[nodiscard]] std::int64_t first_edge(TaskId t) const { return t == 0 ? 0 : edges_end[t - 1]; }
  [[nodiscard]] Task::Kind kind(TaskId t) const { return static_cast<Task::Kind>(kinds[t] & 3); }
  [[nodiscard]] std::int32_t latch(TaskId t) const { return latches ? latches[t] : -1; }
  [[nodiscard]] std::int32_t opened(TaskId t) const { return opens ? opens[t] : -1; }
  [[nodiscard]] Task task(TaskId t) const;
  /// Returns the index of the block that contains `task`; -1: none. Cost: logarithmic in the
  /// blocks.
  [[nodiscard]] std::int32_t block_of(TaskId task) const;
};

/// Returns the first problem that prevents the program from running to its end; empty if there is
/// no such problem. The columns may have any content if their lengths are correct. `rows` is the
/// number of rows of Durations. The columns are read once, from front to back. If the function
/// `passed` is set, it is called regularly with a task. The call reports that the check no longer
/// needs the column entries of the tasks before this task.
/// Memory: at each position of the check, a TaskCounts entry for each later task that has an edge
/// from an earlier task.
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
  std::vector<std::int32_t> predecessors_, packs_, indices_, latches_, opens_, every_steps_,
      numbers_, strides_;
  std::vector<std::int64_t> edges_end_, values_;
  std::vector<IndexRange> cost_shares_;
  Program program_;  ///< owns the roots, blocks, shares and successors; these are used without
                     ///< conversion
  TaskColumns columns_;
};

/// True if the tasks are in an order that TaskColumns requires (edges lead only to higher task
/// numbers).
bool has_forward_edges(const Program& program);

}  // namespace tutti::core
