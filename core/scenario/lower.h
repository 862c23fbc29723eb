#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The second stage of reading a scenario: makes the plan from the strategy, the cluster and the
/// gradients. The plan has the packs of a training step, and the devices that send and receive
/// them. Does nothing if the cluster or the strategy is invalid. If values do not fit together,
/// adds problems at the locations of the fields.
void lower(WrittenScenario& written);

}  // namespace tutti::core
