#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Describes, in sentences, where a scenario is outside the range of its data: layer times of
/// another batch or device, parameters that tutti calibrate fitted to other pack sizes or another
/// number of workers.
std::vector<std::string> extrapolations(const Scenario& scenario);

/// True if the cluster's parameters were fitted to measurements (cluster.calibrated).
bool is_calibrated(const Scenario& scenario);

}  // namespace tutti::core
