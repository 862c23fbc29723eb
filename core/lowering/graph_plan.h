#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Makes the plan of an execution trace, with a pack for each of its collectives. The algorithm of
/// `strategy` executes the collective among the ranks of its communicator. Rank r of the trace is
/// replica r. ERRORS: the algorithm does not support the kind of a collective of the trace, or does
/// not support a collective among a subset of the replicas. REQUIRES: problems_of(strategy,
/// cluster) is empty; the trace has as many ranks as the cluster has replicas; `cluster` outlives
/// the plan.
tl::expected<Plan, StrategyProblem> plan_of_graph(std::shared_ptr<const ExecutionGraph> graph,
                                                  const Strategy& strategy, const Cluster& cluster);

/// Returns the number of members on each worker, if this number is the same for all workers and the
/// members of each worker have consecutive ranks; otherwise 1.
std::int64_t per_worker(const std::vector<std::int64_t>& members, int replicas_per_worker);

}  // namespace tutti::core
