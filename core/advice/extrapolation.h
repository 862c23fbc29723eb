#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns one sentence for each respect in which a scenario is outside the range of its data: its
/// layer times were measured with another batch size or on another device, or `tutti calibrate`
/// fitted its cluster to other pack sizes or another number of workers.
std::vector<std::string> extrapolations(const Scenario& scenario);

/// True if the cluster's parameters were fitted to measurements (cluster.calibrated).
bool is_calibrated(const Scenario& scenario);

}  // namespace tutti::core
