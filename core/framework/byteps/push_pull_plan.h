#pragma once

#include "core/framework/byteps/byteps.h"

namespace tutti::core {

/// Makes BytePS's plan. Every partition of a gradient has two packs: a push, which sums the
/// partition on its server, and the pull of the sum. A push consists of BytePS's stages REDUCE,
/// COPYD2H and PUSH; a pull consists of PULL, COPYH2D and BROADCAST. Replicas on CPUs push to
/// servers and pull from servers directly. ERRORS: the workload has sparse gradients; the strategy
/// has compression. REQUIRES: as for make_plan(); strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_push_pull(const BytePs& options, const PlanInput& input);

}  // namespace tutti::core
