#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// make_plan() of a strategy with a spec: every entry's gradients planned by themselves, and the packs put together in the
/// order of the entries. Packs that are launched one after the other (NCCL's) are so across entries.
/// ERRORS, besides: gradients that no entry takes; an algorithm that TensorFlow does not know, or refuses for this gradient (LITERAL);
/// results by entry whose shapes are not those of their variables.
tl::expected<Plan, StrategyProblem> plan_by_spec(const Workload& workload, const Strategy& strategy,
                                                 const Cluster& cluster,
                                                 const std::vector<Communicator>& communicators);

}  // namespace tutti::core
