#pragma once

#include <memory>
#include <vector>

#include "core/plan/program.h"
#include "core/strategy/plan.h"

namespace tutti::core {

/// The program of a training step of a plan, and where to find its packs.
struct StepProgram {
  Program program;
  std::vector<TaskId> task_of_pack;  ///< by pack: the task that communicates it
  int exchanges = 0;                 ///< of the plan

  bool operator==(const StepProgram&) const = default;
};

/// The programs of a plan's replicas, one for each group of workers (Cluster::groups). Groups whose steps have the same structure
/// share one and differ in their durations alone: all groups do, unless exchanges cut their passes at different layers.
/// Debug and sanitized builds check every plan (core/strategy/plan_check.h).
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
