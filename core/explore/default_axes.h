#pragma once

#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the axes that `tutti tune` varies by default. If the strategy has a framework, the axes
/// are the settings that the framework suggests. Without a framework, the axes are the pack size,
/// and the algorithms with the numbers of shards that the cluster supports.
/// ERRORS (requests): the framework suggests no settings.
Expected<std::vector<Axis>> default_axes(const Scenario& scenario);

}  // namespace tutti::core
