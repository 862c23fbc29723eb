#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The second stage: lowers values to a plan. Computes the strategy's behaviour on this cluster
/// with these gradients: who communicates with whom, and the packs of a step. Does nothing if
/// reading found no valid cluster or strategy. Incompatible values are a problem, at their field.
void lower(WrittenScenario& written);

}  // namespace tutti::core
