#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Makes the plan of a strategy with variables on servers (Strategy::servers). Every variable has
/// one or two packs: one that reads it when a step begins, if it is read, and one that reduces its
/// gradients on its server.
/// ERRORS and REQUIRES: as make_plan(); strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_on_servers(const Workload& workload,
                                                    const Strategy& strategy,
                                                    const Cluster& cluster);

/// Returns, for each variable that is read over the network, the device of a worker that caches it:
/// -1: the CPU, for fewer than 65536 elements; else the GPU with the fewest elements so far.
/// SOURCE: tensorflow/benchmarks variable_mgr_util.py, StagedModelVariable and
/// ParamServerDeviceSetter's caching devices.
std::vector<int> caches_by_load(const std::vector<std::int64_t>& elements, int gpus);

}  // namespace tutti::core
