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

/// One collective operation: its ranks, its data, and the schedule that moves the data.
struct Collective {
  Group group;
  std::shared_ptr<const Schedule> schedule;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  Staging staging = Staging::kDirect;
  std::int64_t contributors =
      0;  ///< number of replicas, which are ranks 0 … contributors - 1; the other ranks are helpers
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  /// The number of replicas at the end that get the result but do not contribute to it, such as an
  /// odd replica in TensorFlow's hierarchical copy.
  std::int32_t left_out = 0;
  /// The sizes of the blocks of an all-to-all with partly filled blocks; otherwise null.
  std::shared_ptr<const BlockSizes> filled = nullptr;
  /// NCCL's choice for the collective and its predicted time. Null: the schedule is simulated.
  /// If set, NCCL's choice and time are simulated instead of the schedule.
  std::shared_ptr<const nccl::CollectiveTime> nccl = nullptr;
  /// If NCCL's time is simulated, the data takes the routes of the connections of `nccl_ways`. All
  /// messages of `nccl_ways` have equally many elements, so that workers are symmetric for any
  /// number of elements. Null: the data takes the routes of `schedule`.
  std::shared_ptr<const Schedule> nccl_ways = nullptr;
  /// The parts of the collective if NCCL executes some of the parts inside workers
  /// (collective_parts.h); otherwise null.
  std::shared_ptr<const CollectiveParts> parts = nullptr;

  /// Returns the size as nccl-tests counts it: the larger of a rank's input and output.
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

/// Makes the collective of `strategy` on `elements` elements over all replicas of `cluster`.
/// `index` is the index of the pack; shuffles use different helper devices for different packs.
/// REQUIRES: problems_of(strategy, cluster) is empty; `elements` is a multiple of the number of
/// replicas if the kind has blocks; `cluster` outlives the collective; there are at most 2^31 - 1
/// ranks.
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index);

/// Makes the collective among the replicas of the first group of `partition`.
/// PlannedCollective::in() returns the collectives of the other groups. REQUIRES also: the
/// algorithm works in groups (AlgorithmTraits::works_in_groups).
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, const Partition& partition);

/// Makes the collective among the given replicas. The rank of a replica is its position in
/// `devices`. Every `per_worker` consecutive ranks share a worker; `per_worker` divides the number
/// of ranks.
/// REQUIRES also: the algorithm works in groups.
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, std::vector<PartId> devices,
                           std::int64_t per_worker);

/// Makes an all-reduce, like make_collective(). REQUIRES: strategy.collective is the all-reduce.
Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index);

/// Returns `elements` rounded up to a number that can be divided evenly over the ranks, and whose
/// part per rank can be divided evenly over the rings that share the buffer. REQUIRES: the
/// requirements of make_collective() hold; `partition` may be null.
std::int64_t cut_evenly(const Cluster& cluster, const Strategy& strategy, DataType type,
                        std::int64_t elements, const Partition* partition);

/// True if the ring orders in the machine files apply: all GPUs of every machine participate, and
/// all machines have the same orders.
bool knows_rings(const Cluster& cluster);

/// Makes the stage across workers of an algorithm that uses NCCL inside workers: an all-reduce
/// among the first replicas of the workers. For nccl/pscpu, the hosts take part as well. Ranks of
/// the group that take no part in the stage have no steps. The whole algorithm consists of NCCL's
/// all-reduce inside workers, the stage across workers, NCCL's broadcast inside workers, and the
/// division for a MEAN. Returns nullopt if there is only one worker.
/// REQUIRES: the requirements of make_collective() hold; the algorithm uses NCCL inside workers
/// (AlgorithmTraits::nccl).
std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy,
                                              DataType type, std::int64_t elements, int index);

}  // namespace tutti::core
