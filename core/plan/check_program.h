#pragma once

#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// Returns the problems that prevent a program from running to its end; empty if there are none.
/// Accepts any program, even a damaged one. If a program has no problems, a runner never reads out
/// of bounds, and the program ends once all tasks that it requests from the host are complete.
/// Cost: linear in tasks and edges.
std::vector<PlanProblem> problems_of(const Program& program);

}  // namespace tutti::core
