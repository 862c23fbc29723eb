#pragma once

#include <vector>

#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns the problems that prevent variables on servers in this cluster: texts with fields, like
/// problems_of().
std::vector<StrategyProblem> problems_of_servers(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
