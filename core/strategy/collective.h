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

/// A collective operation: its ranks, its data, and the schedule by which the data moves.
struct Collective {
  Group group;
  std::shared_ptr<const Schedule> schedule;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  Staging staging = Staging::kDirect;
  std::int64_t contributors = 0;  ///< number of replicas; these are ranks 0 … contributors - 1, and
                                  ///< all other ranks are helpers, which have no data of their own
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  /// The number of replicas that get the result without contributing to it, such as the last of an
  /// odd number of replicas in TensorFlow's hierarchical copy. The replicas that do not contribute
  /// have the highest ranks.
  std::int32_t left_out = 0;
  /// The block sizes of an all-to-all with partly filled blocks; null for all other collectives.
  std::shared_ptr<const BlockSizes> filled = nullptr;
  /// NCCL's choice for the collective, and its predicted time. If set, the simulation uses NCCL's
  /// predicted time. If null, the schedule is simulated.
  std::shared_ptr<const nccl::CollectiveTime> nccl = nullptr;
  /// The schedule that determines the links if the simulation uses NCCL's predicted time: data
  /// crosses the links between the peers of this schedule. All messages of nccl_ways have the same
  /// number of elements, so that workers are symmetric whatever the number of elements is. Null:
  /// `schedule` determines the links.
  std::shared_ptr<const Schedule> nccl_ways = nullptr;
  /// The parts of the collective, if NCCL executes some of them inside workers
  /// (collective_parts.h); otherwise null.
  std::shared_ptr<const CollectiveParts> parts = nullptr;

  /// Returns the size as in nccl-tests: the size of a rank's input or output, whichever is larger.
  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
  /// Returns the size of the buffer in which a rank has its inputs and outputs.
  [[nodiscard]] Bytes buffer_bytes() const { return contract().buffer_elements() * size_of(type); }
  [[nodiscard]] Contract contract() const {
    Contract contract =
        Contract::of(kind, static_cast<std::int32_t>(contributors), elements, root, out_of_place);
    contract.contributors.count -= left_out;
    contract.filled = filled;
    return contract;
  }
};

/// Makes a collective of `elements` elements over all replicas of `cluster`, with the algorithm of
/// `strategy`. `index` is the index of the pack, which determines the helper devices of a shuffle.
/// REQUIRES: problems_of(strategy, cluster) is empty; if the kind has blocks, the number of
/// replicas divides `elements`; `cluster` outlives the collective; there are at most kMaxRanks
/// ranks.
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index);

/// Makes a collective among the replicas of the first group of `partition`. PlannedCollective::in()
/// derives the collectives of the other groups. REQUIRES: in addition to the requirements above,
/// the algorithm supports groups (AlgorithmTraits::works_in_groups).
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, const Partition& partition);

/// Makes a collective among the given replicas. The rank of a replica is its index in `devices`.
/// Ranks 0 … `per_worker` - 1 share a worker, and so do the next `per_worker` ranks; `per_worker`
/// divides the number of ranks. REQUIRES: as above; the algorithm supports groups.
Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, std::vector<PartId> devices,
                           std::int64_t per_worker);

/// Makes an all-reduce, like make_collective(). REQUIRES: strategy.collective is the all-reduce.
Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index);

/// Rounds `elements` up to a number that can be divided equally among all ranks, and among all
/// rings that share the buffer. REQUIRES: the requirements of make_collective() hold; `partition`
/// may be null.
std::int64_t cut_evenly(const Cluster& cluster, const Strategy& strategy, DataType type,
                        std::int64_t elements, const Partition* partition);

/// True if NCCL's rings can be taken from the machine files: all GPUs of every machine participate,
/// and all machines have the same ring orders.
bool knows_rings(const Cluster& cluster);

/// Makes the stage across workers of an algorithm with NCCL inside workers: an all-reduce among the
/// first replicas of all workers. In nccl/pscpu, the hosts participate too. All other ranks of the
/// group have no steps in this stage. The whole algorithm consists of NCCL's all-reduce inside
/// workers, this stage, NCCL's broadcast inside workers and, for a MEAN, the division. Returns
/// nullopt if there is only one worker.
/// REQUIRES: the requirements of make_collective() hold; the algorithm has NCCL inside workers
/// (AlgorithmTraits::nccl).
std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy,
                                              DataType type, std::int64_t elements, int index);

}  // namespace tutti::core
