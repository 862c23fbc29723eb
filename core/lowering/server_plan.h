#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// The plan of a strategy whose variables lie on servers (Strategy::servers): every variable a pack of its own, or two, one that
/// reads it when a step begins and one that brings its gradients together where it lies.
/// ERRORS and REQUIRES: as make_plan(); strategy.servers is set.
tl::expected<Plan, StrategyProblem> plan_on_servers(const Workload& workload, const Strategy& strategy,
                                                    const Cluster& cluster);

/// By device of a worker, in the order of the variables: what caches each variable that is read over the network. -1: the CPU, for
/// fewer than 65536 elements; else the GPU that has the fewest elements so far.
/// SOURCE: tensorflow/benchmarks variable_mgr_util.py, StagedModelVariable and ParamServerDeviceSetter's caching devices.
std::vector<int> caches_by_load(const std::vector<std::int64_t>& elements, int gpus);

}  // namespace tutti::core
