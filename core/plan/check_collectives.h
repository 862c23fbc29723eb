#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// The programs of a plan and the communicators between them, as the checker sees them. Replicas
/// that run the same program form one role.
struct PlanView {
  struct Role {
    const Program* program = nullptr;
    std::string name;  ///< for example "workers of group 0" or "rank 7"
  };
  struct Communicator {
    std::string name;
    std::vector<std::int32_t> roles;  ///< the roles whose replicas are members, in ascending order
    /// True if its members execute one collective after the other in the order in which they issue
    /// them, as NCCL does with the collectives of a communicator on a stream. Otherwise collectives
    /// are matched by their keys and may overlap.
    bool one_at_a_time = false;
  };
  /// The collective of a communicate task.
  struct Use {
    std::int32_t communicator =
        -1;  ///< -1: decided by a gate, which starts collectives in the same order on all ranks
    std::int64_t collective = 0;  ///< identifies the collective; the same on all ranks
  };
  std::vector<Role> roles;
  std::vector<Communicator> communicators;
  std::function<Use(std::int32_t role, const Task& task)> use;
};

/// Returns the problems of a plan: what prevents one of its programs from ending and, if there is
/// nothing, deadlocks between ranks, certain ones and those that depend on timing. Accepts any
/// programs, even damaged ones.
/// Cost: linear in the tasks and edges of all roles, and in the collectives that blocks repeat.
std::vector<PlanProblem> problems_of(const PlanView& plan);

}  // namespace tutti::core
