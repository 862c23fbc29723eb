#pragma once

// A program is the task graph of one training step of one replica. All replicas that do the same work share one program;
// how long its computation takes is a separate column (Durations), one for each kind of device, so that a cluster of several
// kinds of GPU still has one graph.
//
// A program knows nothing of gradients, packs or frameworks: a task computes, communicates or marks a point, and its label is
// passed through to whoever carries it out. The runner (runner.h) says when each task starts. The rules that make a run of a
// program deterministic, so that two executors do the same in the same order:
//
// 1. A task starts when all its predecessors are complete. The successors of a completed task are looked at in the order in
//    which their edges were added, each with everything that follows from it at once before the next (depth first).
// 2. Marks complete in the moment in which they start. They are no events, and take no time.
// 3. Held tasks wait for one more task, which opens their hold. They then start in the order in which they became ready,
//    not in the order of their edges, before the successors of the task that opened it.
// 4. A task that does not take part in a step (every_steps) completes in the moment in which it would start.
// 5. A block of tasks runs several times, one iteration after the other: it has one entry and one exit, which waits for all of
//    it. The predecessors of the entry count for the first iteration, the successors of the exit for the last.
// 6. The step ends when its end task starts. That is the last task: it waits for all others.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/compute_kind.h"

namespace tutti::core {

/// The index of a task in its program. Task ids never leave the process: timelines identify spans by labels.
using TaskId = std::int32_t;
inline constexpr TaskId kNoTask = -1;

/// A range of indices of some array.
struct IndexRange {
  std::int32_t first = 0;
  std::int32_t count = 0;

  bool operator==(const IndexRange&) const = default;
};

/// How long a compute task takes.
struct TaskCost {
  enum class Kind : std::uint8_t {
    kTime,     ///< row `value` of Durations, scaled by the pace of the replica in this step
    kShares,   ///< the parts `shares` of row `value`, rounded so that the parts of a row add up exactly
    kCopy,     ///< `value` bytes at the device's copy rate; the pace does not matter
    kMemory,   ///< `value` bytes at the device's memory rate; the pace does not matter
    kOwnTime,  ///< `value` picoseconds, scaled by the pace: of programs that know the time of each task
  };
  Kind kind = Kind::kTime;
  std::int64_t value = 0;
  IndexRange shares;  ///< in Program::shares; kShares only

  bool operator==(const TaskCost&) const = default;
};

/// One task of a program.
struct Task {
  enum class Kind : std::uint8_t {
    kCompute,      ///< work for the replica's compute stream
    kCommunicate,  ///< the replica takes part in a collective; complete once it is done on this replica
    kMark,         ///< takes no time: a join of several tasks, or something to report
  };
  Kind kind = Kind::kMark;
  ComputeKind compute = ComputeKind::kForward;  ///< label of a compute task
  bool reported = false;                        ///< marks: Host::mark is called
  std::int32_t pack = -1;                       ///< label: the pack that the task belongs to; -1: none
  std::int32_t index = -1;                      ///< label: a backward segment, or an exchange of the plan; -1: none
  std::int32_t hold = -1;                       ///< the task starts once this hold is open; -1: it is not held
  std::int32_t opens = -1;                      ///< the hold that this task opens when it is complete; -1: none
  std::int32_t every_steps = 1;                 ///< takes part in steps s with (s + 1) % every_steps == 0
  std::int32_t number = 0;                      ///< of a communication within its step, in the first iteration
  std::int32_t number_stride = 0;               ///< what every further iteration of its block adds to `number`
  TaskCost cost;

  bool operator==(const Task&) const = default;
};

/// The part [from, to) of a quantity that is cut at whole units.
struct Share {
  std::int64_t from = 0;
  std::int64_t to = 0;

  bool operator==(const Share&) const = default;
};

/// Contiguous tasks that run `repeat` times (rule 5).
struct Block {
  IndexRange tasks;
  TaskId entry = kNoTask;
  TaskId exit = kNoTask;
  std::int32_t repeat = 1;
  IndexRange joins;  ///< those of its tasks

  bool operator==(const Block&) const = default;
};

/// The durations of a program's tasks on one kind of device.
struct Durations {
  struct Row {
    Time time;                           ///< at the pace as stated
    std::int64_t compute_bound_ppm = 0;  ///< what of it multiprocessors limit, in millionths; memory limits the rest
  };
  std::vector<Row> rows;
};

/// A task graph, complete and checked. Made by ProgramBuilder; never changed.
/// Memory: 56 bytes for each task and 4 for each edge, whatever the number of replicas that run it.
struct Program {
  std::vector<Task> tasks;
  std::vector<std::int32_t> first_edge;  ///< of each task, in `successors`; one more at the end
  std::vector<TaskId> successors;
  std::vector<std::int32_t> join;          ///< of each task: its index in `predecessors`; -1: it has at most one
  std::vector<std::int32_t> predecessors;  ///< of each task with several: how many
  std::vector<TaskId> roots;               ///< tasks without predecessors, in the order in which they start
  std::vector<Block> blocks;
  std::vector<Share> shares;
  std::int64_t share_whole = 1;  ///< what the shares are parts of
  std::int32_t holds = 0;
  TaskId end = kNoTask;

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tasks.size()); }
  /// The block that `task` is in; -1: none.
  [[nodiscard]] std::int32_t block_of(TaskId task) const;

  bool operator==(const Program&) const = default;
};

/// Puts a program together, task by task.
class ProgramBuilder {
 public:
  TaskId add(const Task& task);
  /// `to` starts after `from`. Edges of one task are followed in the order in which they were added.
  void edge(TaskId from, TaskId to);
  /// The parts of a row that a task with kShares takes.
  IndexRange add_shares(const std::vector<Share>& shares);
  /// A hold that add()ed tasks may wait for and one of them opens.
  std::int32_t add_hold() { return program_.holds++; }
  /// The tasks from `entry` to the last one added run `repeat` times; the last one is the exit.
  void repeat_since(TaskId entry, std::int32_t repeat);
  void set_share_whole(std::int64_t whole) { program_.share_whole = whole; }
  [[nodiscard]] std::int32_t size() const { return program_.size(); }
  [[nodiscard]] Task& task(TaskId id) { return program_.tasks[static_cast<std::size_t>(id)]; }

  /// The program, whose step ends when `end` starts.
  /// REQUIRES: problems_of() the result is empty (checked: a program that can never end is our own mistake).
  Program build(TaskId end) &&;
  /// The same for a program that comes from outside: whoever calls this has to look at problems_of() the result before it is run.
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
