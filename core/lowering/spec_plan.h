#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Like make_plan(), for a strategy with a spec: plans every entry's gradients separately, and
/// concatenates the packs in the order of the entries. Serial launches (NCCL's) are also serial
/// across entries.
/// ERRORS also: gradients that no entry takes; an algorithm that TensorFlow does not know, or
/// refuses for this gradient (LITERAL); results by entry whose shapes are not those of their
/// variables.
tl::expected<Plan, StrategyProblem> plan_by_spec(const Workload& workload, const Strategy& strategy,
                                                 const Cluster& cluster,
                                                 const std::vector<Communicator>& communicators);

}  // namespace tutti::core
