#pragma once

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the number of rings or channels of a pack, which is the number of lanes of its
/// all-reduce. The lanes that divide the sum by the number of replicas (for MEAN) are not counted.
int lanes_of(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
