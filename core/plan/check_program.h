#pragma once

#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// Returns the problems that prevent a program from running to its end; empty if there are none.
/// The program may have any content, even invalid indices. If the result is empty, a runner never
/// reads out of bounds, and the program ends once the host has completed all tasks that the runner
/// requested.
/// Cost: linear in tasks and edges.
std::vector<PlanProblem> problems_of(const Program& program);

}  // namespace tutti::core
