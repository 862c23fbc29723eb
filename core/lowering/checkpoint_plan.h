#pragma once

#include <optional>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Adds a pack to `plan` for each variable that replicas keep separately (Workload::on_read). When
/// a checkpoint is saved, every Workload::checkpoint_every steps, these packs aggregate the
/// variables, each like a single tensor of the strategy.
/// ERRORS: there are such variables, and the strategy uses servers or divides the replicas into
/// groups.
std::optional<StrategyProblem> add_checkpoint(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster, Plan& plan);

}  // namespace tutti::core
