#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Checks that the links of the cluster carry what the strategy sends: everyone who sends reaches
/// everyone else, and the gradients get over every link within a day (a unit that is a million
/// times off is found here rather than after a run). Problems stand where the cluster is described.
void check_links(WrittenScenario& written);

}  // namespace tutti::core
