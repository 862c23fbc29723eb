#pragma once

#include "core/framework/byteps/byteps.h"

namespace tutti::core {

/// BytePS's plan: every partition of a gradient two packs, a push that adds it up at its server, and a pull that answers it. A partition's push
/// is REDUCE, COPYD2H and PUSH of BytePS, its pull PULL, COPYH2D and BROADCAST. Replicas that are CPUs push and pull by themselves.
/// ERRORS: sparse gradients, compression.
/// REQUIRES: as make_plan(); strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_push_pull(const BytePs& options, const PlanInput& input);

}  // namespace tutti::core
