#pragma once

#include <vector>

#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns the problems that prevent this cluster from storing variables on servers.
std::vector<StrategyProblem> problems_of_servers(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
