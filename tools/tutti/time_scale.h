#pragma once

#include "core/scenario/scenario.h"

namespace tutti::tools {

/// How much slower than the scenario says this machine can emulate it: so slow that its cores carry the messages in a
/// tenth of the time, and that a message of average size takes longer than a process takes to notice it. A round
/// number (1, 2 or 5 times a power of ten), at least 1.
double time_scale_for(const core::Scenario& scenario);

}  // namespace tutti::tools
