#pragma once

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the number of rings or channels of a pack: the lanes of its all-reduce (without the
/// extra lanes of a MEAN).
int lanes_of(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
