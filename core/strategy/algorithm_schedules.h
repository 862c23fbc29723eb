#pragma once

// Functions that build the schedules of a strategy's collectives from the schedules in
// core/algorithm. The table of algorithms points to these functions.

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/schedule/stages.h"
#include "core/strategy/collective_parts.h"
#include "core/strategy/schedule_request.h"

namespace tutti::core::schedules {

using Made = std::shared_ptr<const Schedule>;

// --- over all replicas ---
Made ring(const ScheduleRequest& request);
Made xring(const ScheduleRequest& request);
Made halving_doubling(const ScheduleRequest& request);
Made recursive_doubling(const ScheduleRequest& request);
Made double_tree(const ScheduleRequest& request);
Made pscpu(const ScheduleRequest& request);
Made psgpu(const ScheduleRequest& request);
Made nccl(const ScheduleRequest& request);
Made tf_ring(const ScheduleRequest& request);
Made reduction_to_one_device(const ScheduleRequest& request);
Made hierarchical_copy(const ScheduleRequest& request);
Made custom(const ScheduleRequest& request);

// --- combinations: stages inside workers, before and after the stage across workers ---
using Across = Stage (*)(const ScheduleRequest& request);
/// Returns three stages: NCCL's all-reduce in every worker, `across` among the workers' first GPUs,
/// and NCCL's broadcast in every worker.
std::vector<CollectiveStage> around_by_nccl(const ScheduleRequest& request, Across across);
/// Returns three stages: each host sums the data of its worker's GPUs, `across` runs among the
/// hosts, and each host copies the result to its worker's GPUs.
std::vector<CollectiveStage> around_by_pscpu(const ScheduleRequest& request, Across across);

// --- across workers ---
Stage ring_of_first_gpus(const ScheduleRequest& request);
Stage xring_of_first_gpus(const ScheduleRequest& request);
Stage halving_doubling_of_first_gpus(const ScheduleRequest& request);
Stage recursive_doubling_of_first_gpus(const ScheduleRequest& request);
Stage double_tree_of_first_gpus(const ScheduleRequest& request);
Stage pscpu_of_first_gpus(const ScheduleRequest& request);
Stage pscpu_of_hosts(const ScheduleRequest& request);

}  // namespace tutti::core::schedules
