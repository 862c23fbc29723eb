#pragma once

#include "core/framework/byteps/byteps.h"

namespace tutti::core {

/// Makes BytePS's plan. Each partition has two packs: a push, in which a server sums the partition,
/// and a pull of this sum. BytePS divides a push into the stages REDUCE, COPYD2H and PUSH, and a
/// pull into PULL, COPYH2D and BROADCAST. Replicas on CPUs exchange partitions with the servers
/// directly, so they have only the stages PUSH and PULL. ERRORS: the workload has sparse gradients;
/// the strategy has compression. REQUIRES: as for make_plan(); strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_push_pull(const BytePs& options, const PlanInput& input);

}  // namespace tutti::core
