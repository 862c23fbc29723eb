#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Makes the plan of an execution trace: a pack for each of its collectives, which `strategy`'s
/// algorithm executes among the ranks of its communicator. Rank r of the trace is replica r.
/// ERRORS: collectives that the algorithm does not have, or not among some replicas only.
/// REQUIRES: problems_of(strategy, cluster) is empty; the trace has as many ranks as the cluster
/// has replicas; `cluster` outlives the plan.
tl::expected<Plan, StrategyProblem> plan_of_graph(std::shared_ptr<const ExecutionGraph> graph,
                                                  const Strategy& strategy, const Cluster& cluster);

/// Returns the consecutive ranks that share a worker, if the members have equally many on each of
/// their workers; else 1.
std::int64_t per_worker(const std::vector<std::int64_t>& members, int replicas_per_worker);

}  // namespace tutti::core
