#pragma once

#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// What of a scenario's strategy is worth varying, by its own framework's settings: how much goes into a pack, and which algorithm
/// moves it in how many parts, of those that its cluster has. ERRORS (requests): a strategy of which that is not known.
Expected<std::vector<Axis>> usual_axes(const Scenario& scenario);

}  // namespace tutti::core
