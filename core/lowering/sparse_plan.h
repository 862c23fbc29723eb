#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// True if some gradients are sparse (IndexedSlices).
bool has_slices(const Workload& workload);

/// Does the same as make_plan(), for workloads with sparse gradients (IndexedSlices) in which every
/// replica has all variables. Dense gradients are planned as if there were no sparse gradients. For
/// each sparse gradient, the plan also has a pack that gathers the values and a pack that gathers
/// the indices. If the strategy exchanges the number of rows per replica, a third pack gathers
/// these numbers. ERRORS, in addition to those of make_plan(): MultiWorkerAllReduce does not
/// support sparse gradients; TF_1_15 does not support replicas with different numbers of rows;
/// sparse gradients are not modelled if groups of replicas reduce separately.
tl::expected<Plan, StrategyProblem> plan_with_slices(
    const Workload& workload, const Strategy& strategy, const Cluster& cluster,
    const std::vector<Communicator>& communicators);

}  // namespace tutti::core
