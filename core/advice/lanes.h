#pragma once

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the number of lanes of a pack's all-reduce, that is, the number of rings or channels
/// that the all-reduce uses. With the reduction MEAN, additional lanes divide the sum by the number
/// of replicas; the additional lanes are not counted.
int lanes_of(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
