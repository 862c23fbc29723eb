#include "core/lowering/reduction_scope.h"

#include <algorithm>

#include "core/lowering/sparse_plan.h"
#include "core/nccl/collective_time.h"

namespace tutti::core {

ReductionScope reduction_scope(const Strategy& strategy, const Plan& plan) {
  if (strategy.servers)
    return plan.partition ? ReductionScope::kAsyncServers : ReductionScope::kServers;
  if (strategy.independent) return ReductionScope::kNoReduction;
  return plan.partition ? ReductionScope::kGroups : ReductionScope::kAllReplicas;
}

bool network_adds(const Plan& plan) {
  return std::any_of(plan.packs.begin(), plan.packs.end(), [&](const Pack& pack) {
    const auto& nccl = plan.collective(pack).nccl;
    return nccl && nccl->communicator && nccl->communicator->collnet;
  });
}

bool has_bounds(const Workload& workload, const Strategy& strategy, const Plan& plan) {
  return !plan.graph && reduction_scope(strategy, plan) == ReductionScope::kAllReplicas &&
         strategy.collective == CollectiveKind::kAllReduce && !has_slices(workload);
}

}  // namespace tutti::core
