#pragma once

#include <memory>
#include <vector>

#include "core/lowering/plan.h"
#include "core/plan/program.h"

namespace tutti::core {

/// The program of a training step of a plan, and where to find its packs.
struct StepProgram {
  Program program;
  std::vector<TaskId> task_of_pack;  ///< by pack: the task that communicates it
  int exchanges = 0;                 ///< of the plan

  bool operator==(const StepProgram&) const = default;
};

/// The communication of a replica that is in flight: the tasks that its runner waits for, by pack and exchange. Memory: 4 bytes for each
/// exchange of the plan, and 8 more.
class CommunicationTasks {
 public:
  /// REQUIRES: the program outlives it.
  explicit CommunicationTasks(const StepProgram& program)
      : program_(&program),
        exchanges_(static_cast<std::size_t>(program.exchanges), kNoTask),
        begun_(exchanges_.size(), 0) {}

  void begin_step() { begun_.assign(begun_.size(), 0); }

  /// The runner asked for a task that communicates.
  void begun(TaskId id, const Task& task) {
    if (task.pack >= 0) return;
    exchanges_[static_cast<std::size_t>(task.index)] = id;
    ++begun_[static_cast<std::size_t>(task.index)];
  }
  /// The number of the last that begun() was told, among those of its exchange in this step.
  [[nodiscard]] std::int64_t occurrence(const Task& task) const {
    return task.pack >= 0 ? 0 : begun_[static_cast<std::size_t>(task.index)] - 1;
  }
  [[nodiscard]] TaskId of_pack(std::int32_t pack) const {
    return program_->task_of_pack[static_cast<std::size_t>(pack)];
  }
  /// The last one of the exchange: those of a communicator follow each other.
  [[nodiscard]] TaskId of_exchange(std::int32_t exchange) const {
    return exchanges_[static_cast<std::size_t>(exchange)];
  }

 private:
  const StepProgram* program_;
  std::vector<TaskId> exchanges_;
  std::vector<std::int64_t> begun_;  ///< by exchange: of this step
};

/// The programs of a plan's replicas, one for each group of workers (Cluster::groups). Groups whose steps have the same structure
/// share one and differ in their durations alone: all groups do, unless exchanges cut their passes at different layers.
/// Debug and sanitized builds check every plan (core/lowering/plan_check.h).
class StepPrograms {
 public:
  StepPrograms(const Workload& workload, const Plan& plan);

  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  [[nodiscard]] const StepProgram& program(std::size_t group) const { return *groups_[group].program; }
  [[nodiscard]] const Durations& durations(std::size_t group) const { return groups_[group].durations; }

 private:
  struct Group {
    std::shared_ptr<const StepProgram> program;
    Durations durations;
  };
  std::vector<Group> groups_;
};

}  // namespace tutti::core
