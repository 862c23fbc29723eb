#pragma once

#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// Returns the problems that prevent a program from running to its end; empty if there are none.
/// Accepts any program, even a damaged one. A program without problems can be run without reading
/// out of bounds, and ends once everything that it requests is complete.
/// Cost: linear in tasks and edges.
std::vector<PlanProblem> problems_of(const Program& program);

}  // namespace tutti::core
