#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Where a scenario asks for more than its figures were taken from, in sentences: layer times of another batch or device, figures
/// that tutti calibrate fitted to other sizes of packs or another number of workers.
std::vector<std::string> extrapolations(const Scenario& scenario);

/// True if the cluster's figures were fitted to measurements (cluster.calibrated).
bool is_calibrated(const Scenario& scenario);

}  // namespace tutti::core
