#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// True if some gradients are sparse (IndexedSlices).
bool has_slices(const Workload& workload);

/// Like make_plan(), for sparse gradients (IndexedSlices) if every replica has all variables. Dense
/// gradients are planned as if there were no others; packs follow for each sparse one that gather
/// its lengths (if the strategy exchanges them), values and indices.
/// ERRORS also: MultiWorkerAllReduce, which does not support sparse gradients; TF_1_15 if replicas
/// have different numbers of rows.
tl::expected<Plan, StrategyProblem> plan_with_slices(
    const Workload& workload, const Strategy& strategy, const Cluster& cluster,
    const std::vector<Communicator>& communicators);

}  // namespace tutti::core
