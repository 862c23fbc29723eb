#pragma once

#include "core/scenario/scenario.h"

namespace tutti::tools {

/// Returns the factor by which an emulation of the scenario on this machine has to be slower than
/// the scenario. With this factor, the machine's cores spend at most a tenth of their time on
/// handling messages. The factor also ensures that a message of average size takes longer than a
/// process needs to detect its arrival. The factor is 1, 2 or 5 times a power of ten, and at least
/// 1.
double time_scale_for(const core::Scenario& scenario);

}  // namespace tutti::tools
