#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/cluster/group.h"
#include "core/schedule/checker.h"
#include "core/schedule/schedule.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

namespace nccl {
struct CollectiveTime;
}
struct CollectiveParts;

/// One collective operation: its members, its data, and the schedule that moves the data.
struct Collective {
  Group group;
  std::shared_ptr<const Schedule> schedule;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  Staging staging = Staging::kDirect;
  std::int64_t contributors =
      0;  ///< ranks 0 … contributors - 1 are replicas; the others are helpers
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  /// The number of replicas, the last ones, that get the result but do not contribute to it (as an
  /// odd replica in TensorFlow's hierarchical copy).
  std::int32_t left_out = 0;
  /// The sizes of the blocks of an all-to-all whose blocks are only partly filled; else null.
  std::shared_ptr<const BlockSizes> filled = nullptr;
  /// NCCL's choice for the collective and its predicted time, if they are simulated in place of the
  /// schedule; else null.
  std::shared_ptr<const nccl::CollectiveTime> nccl = nullptr;
  /// The routes of its data if NCCL's time is simulated: the connections of this schedule, with
  /// shares that are equal to the element, so that all workers are symmetric for any number of
  /// elements. Null: those of `schedule`.
  std::shared_ptr<const Schedule> nccl_ways = nullptr;
  /// Its parts, if NCCL executes some of it inside workers (collective_parts.h); else null.
  std::shared_ptr<const CollectiveParts> parts = nullptr;

  /// Its size as nccl-tests counts it: the larger of a rank's input and output.
  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
  /// Returns the size of a rank's buffer, which holds inputs and outputs.
  [[nodiscard]] Bytes buffer_bytes() const { return contract().buffer_elements() * size_of(type); }
  [[nodiscard]] Contract contract() const {
    Contract contract =
        Contract::of(kind, static_cast<std::int32_t>(contributors), elements, root, out_of_place);
    contract.contributors.count -= left_out;
    contract.filled = filled;
    return contract;
  }
};

/// Makes `strategy`'s collective on `elements` elements over all replicas of `cluster`, by its
/// algorithm. `index` is the number of the pack, by which shuffles rotate through the helper
/// devices.
/// REQUIRES: problems_of(strategy, cluster) is empty; `elements` is a multiple of the replicas if
/// the kind has blocks; `cluster` outlives the collective; at most 2^31 - 1 ranks.
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index);

/// Makes the collective among the replicas of the first group of `partition` (for the other groups
/// see PlannedCollective::in()). REQUIRES also: the algorithm works in groups
/// (AlgorithmTraits::works_in_groups).
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, const Partition& partition);

/// Makes the collective among any replicas, in the order of their ranks; `per_worker`: consecutive
/// ranks that share a worker, a divisor of their number. REQUIRES also: the algorithm works in
/// groups.
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, std::vector<PartId> devices,
                           std::int64_t per_worker);

/// Makes an all-reduce, like make_collective(). REQUIRES: strategy.collective is the all-reduce.
Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index);

/// Returns `elements` rounded up so that they can be divided evenly over the ranks, and each part
/// over the rings that share it. REQUIRES: as make_collective(); `partition` may be null.
std::int64_t cut_evenly(const Cluster& cluster, const Strategy& strategy, DataType type,
                        std::int64_t elements, const Partition* partition);

/// True if the ring orders of machine files apply: all GPUs of every machine take part, and the
/// machines have the same orders.
bool knows_rings(const Cluster& cluster);

/// Makes the part across workers of an algorithm that begins with NCCL inside every worker: the
/// first replicas of the workers (for nccl/pscpu with the hosts) reduce; the other ranks of the
/// group have no steps. The whole is NCCL's all-reduce inside, this, NCCL's broadcast inside, and
/// the division of a MEAN. nullopt if there is only one worker.
/// REQUIRES: as make_collective(); the algorithm has NCCL inside workers (AlgorithmTraits::nccl).
std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy,
                                              DataType type, std::int64_t elements, int index);

}  // namespace tutti::core
