#pragma once

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Into how many rings or channels a pack is cut: the lanes of its all-reduce. (What a MEAN does besides has lanes of its own.)
int lanes_of(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
