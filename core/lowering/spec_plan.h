#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Like make_plan(), for a strategy with a spec. The gradients of each entry are planned
/// separately, and the packs are in the order of the entries. If packs are launched serially
/// (NCCL), they are also serial across entries.
/// ERRORS, in addition to those of make_plan(): no entry covers a gradient; TensorFlow does not
/// know an algorithm, or refuses it for a gradient (LITERAL); TensorFlow would return results in
/// the order of entries, with shapes other than those of the variables.
tl::expected<Plan, StrategyProblem> plan_by_spec(const Workload& workload, const Strategy& strategy,
                                                 const Cluster& cluster,
                                                 const std::vector<Communicator>& communicators);

}  // namespace tutti::core
