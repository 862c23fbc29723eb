#pragma once

#include <memory>
#include <vector>

#include "core/lowering/plan.h"
#include "core/plan/program.h"

namespace tutti::core {

/// The program of a plan's training step, and the tasks that execute the plan's packs.
struct StepProgram {
  Program program;
  std::vector<TaskId> task_of_pack;  ///< by pack: the communicate task of the pack
  int exchanges = 0;                 ///< number of exchanges of the plan

  bool operator==(const StepProgram&) const = default;
};

/// Maps a pack or exchange that is in flight on a replica to its task, so that the task can be
/// reported to the runner as complete. Memory: 12 bytes for each exchange of the plan.
class CommunicationTasks {
 public:
  /// REQUIRES: `program` outlives this object.
  explicit CommunicationTasks(const StepProgram& program)
      : program_(&program),
        exchanges_(static_cast<std::size_t>(program.exchanges), kNoTask),
        begun_(exchanges_.size(), 0) {}

  void begin_step() { begun_.assign(begun_.size(), 0); }

  /// Records that the runner requested a communicate task.
  void begun(TaskId id, const Task& task) {
    if (task.pack >= 0) return;
    exchanges_[task.index] = id;
    ++begun_[task.index];
  }
  /// Returns the index, counted from 0, of the latest execution of the task's exchange in this
  /// step; 0 for packs.
  [[nodiscard]] std::int64_t occurrence(const Task& task) const {
    return task.pack >= 0 ? 0 : begun_[task.index] - 1;
  }
  [[nodiscard]] TaskId of_pack(std::int32_t pack) const { return program_->task_of_pack[pack]; }
  /// Returns the latest task of the exchange. The latest task is the task in flight, because a
  /// communicator executes one exchange at a time.
  [[nodiscard]] TaskId of_exchange(std::int32_t exchange) const { return exchanges_[exchange]; }

 private:
  const StepProgram* program_;
  std::vector<TaskId> exchanges_;
  std::vector<std::int64_t> begun_;  ///< by exchange: number of executions begun in this step
};

/// The programs of a plan's replicas, one for each group of workers (Cluster::groups). Groups whose
/// steps have the same structure share a program, and differ only in durations. The structures
/// differ only if exchanges divide the passes of two groups at different layers. Debug and
/// sanitizer builds check every plan (core/lowering/plan_check.h).
class StepPrograms {
 public:
  StepPrograms(const Workload& workload, const Plan& plan);
  /// Makes an object without programs, for plans of execution traces (Plan::graph), which have
  /// their own programs.
  StepPrograms() = default;

  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  [[nodiscard]] const StepProgram& program(std::size_t group) const {
    return *groups_[group].program;
  }
  [[nodiscard]] const Durations& durations(std::size_t group) const {
    return groups_[group].durations;
  }

 private:
  struct Group {
    std::shared_ptr<const StepProgram> program;
    Durations durations;
  };
  std::vector<Group> groups_;
};

}  // namespace tutti::core
