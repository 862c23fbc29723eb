#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The second stage: values to a plan. What the strategy comes to on this cluster with these
/// gradients, who communicates with whom, and the packs of a step. Does nothing if reading has left
/// out the cluster or the strategy. What does not go together is a problem, at the field that says
/// it.
void lower(WrittenScenario& written);

}  // namespace tutti::core
