#pragma once

#include <optional>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Adds a pack to `plan` for each variable that replicas keep separately (Workload::on_read) and
/// that is aggregated over several replicas. The packs aggregate the variables when a checkpoint is
/// saved, every Workload::checkpoint_every steps. Each pack contains one variable.
/// Strategy::checkpoint determines how the variable is reduced. ERRORS: replicas keep some
/// variables separately, but the strategy uses parameter servers or divides the replicas into
/// groups.
std::optional<StrategyProblem> add_checkpoint(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster, Plan& plan);

}  // namespace tutti::core
