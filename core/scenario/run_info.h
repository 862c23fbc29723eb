#pragma once

#include <string>

#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// What a timeline says about the run it is of: the scenario, its plan, and the bounds that no run beats.
RunInfo run_info(const Scenario& scenario, const std::string& executor);

}  // namespace tutti::core
