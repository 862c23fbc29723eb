#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Makes the plan of a strategy with variables on servers (Strategy::servers). For every variable,
/// a pack reduces the variable's gradients on the variable's server. For a variable with sparse
/// gradients, two packs do this: one pack sends the indices, and the other pack sends the rows. If
/// replicas read variables from servers (Servers::reads), a further pack for every variable reads
/// the variable when a step begins. ERRORS and REQUIRES: as for make_plan(); also REQUIRES that
/// strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_on_servers(const Workload& workload,
                                                    const Strategy& strategy,
                                                    const Cluster& cluster);

/// Returns, for each variable that is read over the network, the device on which a worker caches
/// the variable. A variable with fewer than 65536 elements is cached on the CPU (-1). Variables
/// with at least 65536 elements are cached on GPUs: each in turn on the GPU with the fewest cached
/// elements so far. SOURCE: tensorflow/benchmarks variable_mgr_util.py, StagedModelVariable and
/// ParamServerDeviceSetter's caching devices.
std::vector<int> caches_by_load(const std::vector<std::int64_t>& elements, int gpus);

}  // namespace tutti::core
