#pragma once

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns the number of lanes of a pack's all-reduce, which is the number of its rings or
/// channels. With the reduction MEAN, additional lanes divide the sum by the number of replicas;
/// the additional lanes are not counted.
int lanes_of(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
