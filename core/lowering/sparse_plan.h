#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Some gradients are IndexedSlices.
bool has_slices(const Workload& workload);

/// make_plan() of gradients some of which are IndexedSlices, where every replica has all variables: dense gradients as if there were no
/// others, and behind them of each sparse one packs that gather what tells how long it is, its values and its indices, as the
/// strategy does.
/// ERRORS, besides: MultiWorkerAllReduce, which knows no sparse gradients; TF_1_15, where replicas have different numbers of rows.
tl::expected<Plan, StrategyProblem> plan_with_slices(const Workload& workload, const Strategy& strategy,
                                                     const Cluster& cluster,
                                                     const std::vector<Communicator>& communicators);

}  // namespace tutti::core
