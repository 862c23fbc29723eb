#pragma once

#include <optional>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Adds packs to `plan` that aggregate the variables which replicas keep separately
/// (Workload::on_read) when they are saved, every Workload::checkpoint_every steps: one pack each,
/// reduced by the strategy like a single tensor.
/// ERRORS: there are such variables, and the strategy keeps variables or sums on servers, or its
/// replicas are in groups.
std::optional<StrategyProblem> add_checkpoint(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster, Plan& plan);

}  // namespace tutti::core
