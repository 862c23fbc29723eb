#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Makes the plan of an execution trace, with a pack for each of its collectives. The algorithm of
/// `strategy` executes each collective among the ranks of the collective's communicator. Rank r of
/// the trace is replica r. ERRORS: the trace has a kind of collective that the algorithm does not
/// support; only some replicas take part in a collective of the trace, and the algorithm does not
/// support this.
/// REQUIRES: problems_of(strategy, cluster) is empty; the trace has as many ranks as the cluster
/// has replicas; `cluster` outlives the plan.
tl::expected<Plan, StrategyProblem> plan_of_graph(std::shared_ptr<const ExecutionGraph> graph,
                                                  const Strategy& strategy, const Cluster& cluster);

/// Returns the number of members of a communicator on each worker. Returns 1 if workers have
/// different numbers of members, or if the members on a worker do not have consecutive ranks.
std::int64_t per_worker(const std::vector<std::int64_t>& members, int replicas_per_worker);

}  // namespace tutti::core
