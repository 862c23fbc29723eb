#include "core/lowering/who_reduces.h"

#include <algorithm>

#include "core/lowering/sparse_plan.h"
#include "core/nccl/collective_time.h"

namespace tutti::core {

WhoReduces who_reduces(const Strategy& strategy, const Plan& plan) {
  if (strategy.servers)
    return plan.partition ? WhoReduces::kServersAtOwnPace : WhoReduces::kServers;
  if (strategy.independent) return WhoReduces::kNobody;
  return plan.partition ? WhoReduces::kGroups : WhoReduces::kAllReplicas;
}

bool network_adds(const Plan& plan) {
  return std::any_of(plan.packs.begin(), plan.packs.end(), [&](const Pack& pack) {
    const auto& nccl = plan.collective(pack).nccl;
    return nccl && nccl->communicator && nccl->communicator->collnet;
  });
}

bool has_bounds(const Workload& workload, const Strategy& strategy, const Plan& plan) {
  return who_reduces(strategy, plan) == WhoReduces::kAllReplicas &&
         strategy.collective == CollectiveKind::kAllReduce && !has_slices(workload);
}

}  // namespace tutti::core
