#pragma once

#include "core/scenario/scenario.h"

namespace tutti::tools {

/// Returns the factor by which this machine has to slow down the scenario to emulate it: so slow
/// that its cores handle the messages in a tenth of the time, and that a message of average size
/// takes longer than a process takes to notice it. A round number (1, 2 or 5 times a power of ten),
/// at least 1.
double time_scale_for(const core::Scenario& scenario);

}  // namespace tutti::tools
