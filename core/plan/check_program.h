#pragma once

#include <vector>

#include "core/plan/plan_problem.h"

namespace tutti::core {

/// Returns what keeps a program from being run to its end; empty if nothing does. Takes any
/// program, also a damaged one: a program without problems can be run without reading out of bounds
/// and ends once everything it asks for is complete.
/// Cost: linear in tasks and edges.
std::vector<PlanProblem> problems_of(const Program& program);

}  // namespace tutti::core
