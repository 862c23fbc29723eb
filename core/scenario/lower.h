#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The second stage of reading a scenario: lowers the strategy to a plan for this cluster and these
/// gradients. The plan has the packs of a step and the devices that communicate. Does nothing if
/// the cluster or the strategy could not be read. Adds problems, located at the fields, if values
/// are incompatible.
void lower(WrittenScenario& written);

}  // namespace tutti::core
