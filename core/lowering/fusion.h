#pragma once

#include <map>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Describes the fusion of gradients in a run: "161 gradients were fused into 57 to 60 all-reduces
/// per step; all-reduces of step 3: 8.21, 4.2, … MB". `sizes` has one list per training step, with
/// the sizes of the step's collectives. REQUIRES: `sizes` is not empty.
std::string describe_fused(const Plan& plan,
                           const std::map<std::int32_t, std::vector<Bytes>>& sizes);

}  // namespace tutti::core
