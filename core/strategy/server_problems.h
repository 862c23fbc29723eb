#pragma once

#include <vector>

#include "core/strategy/strategy.h"

namespace tutti::core {

/// What keeps variables from lying on servers in this cluster: texts with fields, as problems_of() has them.
std::vector<StrategyProblem> problems_of_servers(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
