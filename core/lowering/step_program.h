#pragma once

#include <memory>
#include <vector>

#include "core/lowering/plan.h"
#include "core/plan/program.h"

namespace tutti::core {

/// The task graph of a plan's training step, and the task of this graph that executes each pack.
struct StepProgram {
  Program program;
  std::vector<TaskId> task_of_pack;  ///< for each pack: the communicate task of the pack
  int exchanges = 0;                 ///< number of exchanges of the plan

  bool operator==(const StepProgram&) const = default;
};

/// Finds the task of a pack or exchange that is in flight on a replica. When the pack or exchange
/// is complete, the executor passes the task to Runner::done(). Memory: 12 bytes for each exchange
/// of the plan.
class CommunicationTasks {
 public:
  /// REQUIRES: `program` outlives this object.
  explicit CommunicationTasks(const StepProgram& program)
      : program_(&program), exchanges_(program.exchanges, kNoTask), begun_(exchanges_.size(), 0) {}

  void begin_step() { begun_.assign(begun_.size(), 0); }

  /// Records that the runner has started the communicate task `id`.
  void begun(TaskId id, const Task& task) {
    if (task.pack >= 0) return;
    exchanges_[task.index] = id;
    ++begun_[task.index];
  }
  /// Returns how many times the task's exchange was executed in this step before its latest
  /// execution; 0 for packs.
  [[nodiscard]] std::int64_t occurrence(const Task& task) const {
    return task.pack >= 0 ? 0 : begun_[task.index] - 1;
  }
  [[nodiscard]] TaskId of_pack(std::int32_t pack) const { return program_->task_of_pack[pack]; }
  /// Returns the task of the exchange that is in flight. At most one task of an exchange is in
  /// flight, because a communicator executes one exchange at a time.
  [[nodiscard]] TaskId of_exchange(std::int32_t exchange) const { return exchanges_[exchange]; }

 private:
  const StepProgram* program_;
  std::vector<TaskId> exchanges_;
  std::vector<std::int64_t> begun_;  ///< for each exchange: number of executions begun in this step
};

/// The programs of a plan's replicas, one for each group of workers (Cluster::groups). Groups with
/// the same task graph share a program, and differ only in durations. Two groups have different
/// task graphs only if exchanges interrupt their forward or backward passes at different layers.
/// Debug and sanitizer builds check every plan (core/lowering/plan_check.h).
class StepPrograms {
 public:
  /// Selects how the values of packs are divided before and after NCCL's sums
  /// (Pack::divided_before) to get a mean: by compute tasks of the programs, or by the executor
  /// itself.
  enum class Divisions { kAsTasks, kByExecutor };
  StepPrograms(const Workload& workload, const Plan& plan,
               Divisions divisions = Divisions::kAsTasks);
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
