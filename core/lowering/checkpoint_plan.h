#pragma once

#include <optional>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Adds to `plan` what brings variables that replicas keep by themselves (Workload::on_read) together when they are saved, every
/// Workload::checkpoint_every steps: a pack for each, as the strategy reduces a single tensor.
/// ERRORS: there are such variables, and the strategy keeps variables, or sums, on servers, or its replicas are in groups.
std::optional<StrategyProblem> add_checkpoint(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster, Plan& plan);

}  // namespace tutti::core
