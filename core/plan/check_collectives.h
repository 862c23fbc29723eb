#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// The programs of a plan and the communicators between them, as far as the checker has to know
/// them. Replicas that run the same program are one role.
struct PlanView {
  struct Role {
    const Program* program = nullptr;
    std::string name;  ///< "workers of group 0", "rank 7"
  };
  struct Communicator {
    std::string name;
    std::vector<std::int32_t> roles;  ///< whose replicas are its members, ascending
    /// Its members carry out one collective after the other in the order in which they issue them,
    /// as NCCL does with the collectives of a communicator on a stream. Else collectives are
    /// matched by their keys and may overlap.
    bool one_at_a_time = false;
  };
  /// What a communicate task takes part in.
  struct Use {
    std::int32_t communicator = -1;  ///< -1: only a gate knows, which starts it in the same order everywhere
    std::int64_t collective = 0;     ///< the same number on all ranks
  };
  std::vector<Role> roles;
  std::vector<Communicator> communicators;
  std::function<Use(std::int32_t role, const Task& task)> use;
};

/// Returns what is wrong with a plan: what keeps one of its programs from ending and, if nothing
/// does, what ranks would wait for from each other forever, or might if timing is unlucky. Takes
/// any programs, also damaged ones.
/// Cost: linear in the tasks and edges of all roles, and in the collectives that blocks repeat.
std::vector<PlanProblem> problems_of(const PlanView& plan);

}  // namespace tutti::core
