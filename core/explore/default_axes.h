#pragma once

#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the axes that `tutti tune` varies by default. If the strategy has a framework that
/// suggests settings (Framework::tried_values()), the axes are these settings. Otherwise, the first
/// axis is the pack size, or the merge scope if the strategy sets all_reduce_merge_scope; this axis
/// is omitted if the workload is an execution trace or has only one gradient. The second axis
/// contains combinations of an algorithm and a number of shards: those that the cluster supports.
/// ERRORS (requests): the framework has no settings to vary.
Expected<std::vector<Axis>> default_axes(const Scenario& scenario);

}  // namespace tutti::core
