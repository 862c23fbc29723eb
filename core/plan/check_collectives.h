#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// The input of problems_of(): the programs of a plan, and the communicators of the ranks that run
/// them. All replicas that run the same program form one role.
struct PlanView {
  struct Role {
    const Program* program = nullptr;
    std::string name;  ///< name in problems, such as "workers of group 0" or "rank 7"
  };
  struct Communicator {
    std::string name;
    std::vector<std::int32_t> roles;  ///< the roles whose replicas are members, in ascending order
    /// True if each member executes the communicator's collectives one after the other, in the
    /// order in which it issues them, as NCCL does on a stream. False if collectives are matched by
    /// their keys, as in TensorFlow, and may overlap.
    bool one_at_a_time = false;
  };
  /// The collective that a communicate task executes.
  struct Use {
    std::int32_t communicator =
        -1;  ///< index into `communicators`; -1: none, because a gate (gate/gate.h)
             ///< starts the collectives in the same order on all ranks
    std::int64_t collective = 0;  ///< identifies the collective; equal on all ranks
  };
  std::vector<Role> roles;
  std::vector<Communicator> communicators;
  std::function<Use(std::int32_t role, const Task& task)> use;
};

/// Returns the problems of a plan. If any program has a problem, returns the problems of the
/// individual programs. Otherwise, returns the deadlocks between ranks, both those that always
/// occur and those that depend on timing. The programs may have any content, even invalid indices.
/// Cost: linear in the tasks and edges of all roles, and in the number of collectives. A collective
/// in a block (tasks that run several times, program.h) counts once per iteration.
std::vector<PlanProblem> problems_of(const PlanView& plan);

}  // namespace tutti::core
