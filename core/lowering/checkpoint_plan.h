#pragma once

#include <optional>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Adds a pack to `plan` for each variable that replicas keep separately (Workload::on_read). These
/// packs aggregate the variables when a checkpoint is saved, every Workload::checkpoint_every
/// steps. Each pack is reduced like a tensor in a pack of its own. ERRORS: the workload has such
/// variables, and the strategy uses servers or divides the replicas into groups.
std::optional<StrategyProblem> add_checkpoint(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster, Plan& plan);

}  // namespace tutti::core
