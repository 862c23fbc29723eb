#pragma once

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"

namespace tutti::tools {

/// Simulates a scenario without a timeline. ERRORS: the simulation failed or was interrupted.
core::Expected<core::Summary> predicted_step(const core::Scenario& scenario);

}  // namespace tutti::tools
