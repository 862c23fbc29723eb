#pragma once

#include "core/framework/byteps/byteps.h"

namespace tutti::core {

/// Makes BytePS's plan: two packs for every partition of a gradient, a push that sums it on its
/// server, and the pull of that push. A push is BytePS's REDUCE, COPYD2H and PUSH; a pull is PULL,
/// COPYH2D and BROADCAST. Replicas that are CPUs push and pull directly.
/// ERRORS: sparse gradients, compression.
/// REQUIRES: as make_plan(); strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_push_pull(const BytePs& options, const PlanInput& input);

}  // namespace tutti::core
