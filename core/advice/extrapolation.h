#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Where a scenario asks for more than its figures were taken from, in sentences: layer times of another batch or device, figures
/// that were fitted to other sizes of messages or another number of workers.
std::vector<std::string> extrapolations(const Scenario& scenario);

}  // namespace tutti::core
