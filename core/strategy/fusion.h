#pragma once

#include <map>

#include "core/strategy/plan.h"

namespace tutti::core {

/// Horovod's cycles on this cluster. In each, workers agree on what is ready on all of them: with a response cache by two bitwise ANDs
/// over everybody's bits, each of ⌈log2 W⌉ rounds there and as many back; without, or the first time, requests besides go to the
/// coordinator and its responses to everybody.
/// SOURCE: horovod/common/controller.cc, ComputeResponseList, CoordinateCacheAndState.
Fusion fusion_of(const Horovod& horovod, const Workload& workload, const Cluster& cluster);

/// What keeps Horovod from fusing packs of this strategy; nothing if all is well.
std::optional<StrategyProblem> problem_of_fusion(const Strategy& strategy,
                                                 const std::vector<Communicator>& communicators);

/// "161 gradients were fused into 57 to 60 all-reduces a step; those of step 3: 8.21, 4.2, … MB". `sizes`: of the collectives of each step.
/// REQUIRES: there are some.
std::string describe_fused(const Plan& plan, const std::map<std::int32_t, std::vector<Bytes>>& sizes);

}  // namespace tutti::core
