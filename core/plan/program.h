#pragma once

// A program is the task graph of one training step of one replica. All replicas that do the same
// work share a program. The durations of a program's compute tasks are in a separate table
// (Durations) for each kind of device, so clusters with several kinds of GPU need only one graph.
//
// A program does not refer to gradients, packs or frameworks: a task computes, communicates, or
// marks a point in the graph. A label states what the task is for; the executor (the simulator or a
// real run) receives the label. The runner (runner.h) decides when each task starts. The following
// rules make a run deterministic, so that both executors start tasks in the same order:
//
// 1. A task starts when all its predecessors are complete. The successors of a completed task are
//    visited depth first, in the order in which their edges were added. Everything that starts
//    because of one successor starts before the next successor is visited.
// 2. Marks are not events and take no time: a mark completes at the moment at which it starts.
// 3. A latch is opened by one task, and other tasks wait for it. A task with a latch starts
//    when all its predecessors are complete and the latch is open. When a latch is opened, the
//    tasks that wait for it start in the order in which they became ready (not in the order of
//    their edges), and before the successors of the task that opened the latch.
// 4. A task that is skipped in a step (every_steps) completes at the moment at which it would
//    start.
// 5. A block of tasks runs several times in a row. A block has one entry, and one exit that waits
//    for all tasks of the block. Only the first iteration waits for the predecessors of the entry;
//    only the last iteration releases the successors of the exit.
// 6. The step ends when its end task starts. The end task waits for all other tasks.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/compute_kind.h"

namespace tutti::core {

/// The index of a task in its program. Task ids are used only inside a process; timelines identify
/// spans by labels.
using TaskId = std::int32_t;
inline constexpr TaskId kNoTask = -1;

/// A range of indices into an array.
struct IndexRange {
  std::int32_t first = 0;
  std::int32_t count = 0;

  bool operator==(const IndexRange&) const = default;
};

/// The duration of a compute task.
struct TaskCost {
  enum class Kind : std::uint8_t {
    kTime,     ///< the time in row `value` of Durations, scaled by the replica's pace (its relative
               ///< computation time) in the step
    kShares,   ///< the fractions `shares` of the time in row `value`, rounded so that all fractions
               ///< of a row add up to its time
    kCopy,     ///< the time to copy `value` bytes at the device's copy rate, not scaled by the pace
    kMemory,   ///< the time to access `value` bytes at the device's memory rate, not scaled by the
               ///< pace
    kOwnTime,  ///< `value` picoseconds, scaled by the pace; used in programs in which each task has
               ///< its own time
  };
  Kind kind = Kind::kTime;
  std::int64_t value = 0;
  IndexRange shares;  ///< range in Program::shares; only for kShares

  bool operator==(const TaskCost&) const = default;
};

/// One task of a program.
struct Task {
  enum class Kind : std::uint8_t {
    kCompute,      ///< work on the replica's compute stream
    kCommunicate,  ///< the replica's part in a collective; complete when the collective is complete
                   ///< on this replica
    kMark,         ///< waits for several tasks, or reports an event; takes no time
  };
  Kind kind = Kind::kMark;
  ComputeKind compute = ComputeKind::kForward;  ///< label of a compute task
  bool reported = false;                        ///< only for marks: true if the runner calls
                                                ///< Host::mark() when it reaches the mark
  std::int32_t pack = -1;   ///< label: the pack that the task belongs to; -1: none
  std::int32_t index = -1;  ///< label: the index of a backward segment, or of an exchange of the
                            ///< plan (a collective during computation); -1: none
  std::int32_t latch = -1;  ///< latch that the task waits for; -1: none
  std::int32_t opens = -1;  ///< latch that is opened when the task is complete; -1: none
  std::int32_t every_steps = 1;  ///< executed only in steps s with (s + 1) % every_steps == 0
  std::int32_t number = 0;       ///< for a communication: its sequence number in the step; inside a
                                 ///< block, the number in the first iteration
  std::int32_t number_stride = 0;  ///< increment of `number` in each further iteration of the block
  TaskCost cost;

  bool operator==(const Task&) const = default;
};

/// A fraction of a quantity that is divided into Program::share_whole units: the units `from` to
/// `to` - 1.
struct Share {
  std::int64_t from = 0;
  std::int64_t to = 0;

  bool operator==(const Share&) const = default;
};

/// A range of tasks that runs `repeat` times in a row (rule 5).
struct Block {
  IndexRange tasks;
  TaskId entry = kNoTask;
  TaskId exit = kNoTask;
  std::int32_t repeat = 1;
  IndexRange joins;  ///< the block's tasks that have several predecessors, as a range in
                     ///< Program::predecessors

  bool operator==(const Block&) const = default;
};

/// The durations of a program's tasks on one kind of device.
struct Durations {
  struct Row {
    Time time;                           ///< duration at the nominal pace
    std::int64_t compute_bound_ppm = 0;  ///< fraction of the time that is limited by
                                         ///< multiprocessors, in millionths; memory bandwidth
                                         ///< limits the rest of the time
  };
  std::vector<Row> rows;
};

/// A complete task graph, made by ProgramBuilder. Immutable. Memory: 64 bytes for each task and 4
/// for each edge, independent of the number of replicas that run it.
struct Program {
  std::vector<Task> tasks;
  std::vector<std::int32_t> first_edge;  ///< for each task: index of its first edge in
                                         ///< `successors`; the last element is the number of edges
  std::vector<TaskId> successors;
  /// For each task: index of its count in `predecessors`; -1: the task has at most one
  /// predecessor, and no count.
  std::vector<std::int32_t> join;
  std::vector<std::int32_t>
      predecessors;  ///< for each task with several predecessors: the number of its predecessors
  std::vector<TaskId> roots;  ///< tasks without predecessors, in the order in which they start
  std::vector<Block> blocks;
  std::vector<Share> shares;
  std::int64_t share_whole = 1;  ///< number of units into which shares divide a duration
  std::int32_t latches = 0;
  TaskId end = kNoTask;

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tasks.size()); }
  /// Returns the index of the block that contains `task`; -1: none.
  [[nodiscard]] std::int32_t block_of(TaskId task) const;

  bool operator==(const Program&) const = default;
};

/// Builds a program task by task.
class ProgramBuilder {
 public:
  TaskId add(const Task& task);
  /// Adds an edge, which makes `to` wait for `from`. When `from` completes, the runner follows the
  /// edges of `from` in the order in which they were added.
  void edge(TaskId from, TaskId to);
  /// Adds the shares of a task whose cost is kShares, and returns their range in Program::shares.
  IndexRange add_shares(const std::vector<Share>& shares);
  /// Adds a latch. Tasks that wait for the latch name it in Task::latch, and the one task that
  /// opens the latch names it in Task::opens.
  std::int32_t add_latch() { return program_.latches++; }
  /// Makes a block, which runs `repeat` times, of all tasks from `entry` to the task that was added
  /// last. The last task is the block's exit.
  void repeat_since(TaskId entry, std::int32_t repeat);
  void set_share_whole(std::int64_t whole) { program_.share_whole = whole; }
  [[nodiscard]] std::int32_t size() const { return program_.size(); }
  [[nodiscard]] Task& task(TaskId id) { return program_.tasks[id]; }

  /// Returns the program. `end` is the task at which the step ends.
  /// REQUIRES: problems_of() of the result is empty (build() checks this, because a program that
  /// can never end is a bug in Tutti).
  Program build(TaskId end) &&;
  /// Does the same as build(), without the check. This function is for programs that Tutti reads
  /// from files. Callers must check problems_of() of the result before they run it.
  Program build_unchecked(TaskId end) &&;

 private:
  struct Edge {
    TaskId from;
    TaskId to;
  };
  Program program_;
  std::vector<Edge> edges_;
};

}  // namespace tutti::core
