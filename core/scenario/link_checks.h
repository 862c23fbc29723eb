#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Checks that the cluster's links can carry the strategy's messages: every sender reaches every
/// receiver, and every link carries the gradients within a day (this detects a unit that is wrong
/// by a factor of a million before the run). Problems have the locations of the cluster's fields.
void check_links(WrittenScenario& written);

}  // namespace tutti::core
