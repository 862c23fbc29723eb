#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/data_type.h"
#include "core/cluster/group.h"
#include "core/schedule/checker.h"
#include "core/schedule/schedule.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// One collective operation: who takes part, on how much, moving bytes how.
struct Collective {
  Group group;
  std::shared_ptr<const Schedule> schedule;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  Staging staging = Staging::kDirect;
  std::int64_t contributors = 0;  ///< ranks 0 … contributors - 1 are replicas; the others only help

  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
  [[nodiscard]] Contract contract() const {
    return Contract::all_reduce(static_cast<std::int32_t>(contributors), elements);
  }
};

/// The all-reduce of `elements` elements over all replicas of `cluster` by `strategy`'s algorithm. `index` counts the
/// packs: shuffles take turns at the helper devices by it.
/// REQUIRES: problems_of(strategy, cluster) is empty; `cluster` outlives the collective; at most 2^31 - 1 ranks.
Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements,
                           int index);

/// What of an algorithm that begins with NCCL inside every worker goes across workers: the first replicas of the workers
/// (for nccl/pscpu with the hosts) reduce; the other ranks of the same group have no steps. The whole is NCCL's all-reduce
/// inside, this, NCCL's broadcast inside, and the division of a MEAN. Nothing if there is only one worker.
/// REQUIRES: as above; the algorithm is nccl/ring, nccl/halving_doubling or nccl/pscpu.
std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy, DataType type,
                                              std::int64_t elements, int index);

}  // namespace tutti::core
