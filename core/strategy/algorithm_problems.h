#pragma once

#include <vector>

#include "core/strategy/strategy.h"

namespace tutti::core {

// Functions that check the settings of a single algorithm. The table of algorithms points to these
// functions (AlgorithmTraits::find_problems).

void find_tf_ring_problems(const Strategy& strategy, const Cluster& cluster,
                           std::vector<StrategyProblem>& problems);
void find_reduction_to_one_device_problems(const Strategy& strategy, const Cluster& cluster,
                                           std::vector<StrategyProblem>& problems);
void find_hierarchical_copy_problems(const Strategy& strategy, const Cluster& cluster,
                                     std::vector<StrategyProblem>& problems);
void find_custom_problems(const Strategy& strategy, const Cluster& cluster,
                          std::vector<StrategyProblem>& problems);

}  // namespace tutti::core
