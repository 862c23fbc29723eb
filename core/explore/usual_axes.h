#pragma once

#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the axes that are worth varying in a scenario's strategy, by its framework's settings:
/// the pack size and, among those that suit the cluster, the algorithm and its number of parts.
/// ERRORS (requests): a strategy without such settings.
Expected<std::vector<Axis>> usual_axes(const Scenario& scenario);

}  // namespace tutti::core
