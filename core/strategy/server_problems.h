#pragma once

#include <vector>

#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns the reasons why servers of this cluster cannot store the variables.
std::vector<StrategyProblem> problems_of_servers(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
