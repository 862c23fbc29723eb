#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Does the same as make_plan(), for a strategy with an all_reduce_spec. The gradients of each
/// entry are planned separately, and the packs are in the order of the entries. Packs that are
/// launched serially (NCCL) run one after the other, even if they belong to different entries.
/// ERRORS, in addition to those of make_plan(): a gradient fits no entry; with `validation:
/// LITERAL`, TensorFlow does not know an algorithm or refuses it for a gradient; with
/// `result_order: BY_ENTRY` (results in the order of the entries, as in TensorFlow), a variable
/// would get a result that has another shape than the variable.
tl::expected<Plan, StrategyProblem> plan_by_spec(const Workload& workload, const Strategy& strategy,
                                                 const Cluster& cluster,
                                                 const std::vector<Communicator>& communicators);

}  // namespace tutti::core
