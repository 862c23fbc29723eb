#pragma once

#include <memory>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"

namespace tutti::real {

/// Converts between ranks of the cluster and ranks of a group. The ranks of the cluster are
/// numbered in this order: all replicas, worker by worker, and then the CPUs of all workers. A
/// group is one worker of an asynchronous run. The ranks of a group are numbered in this order: the
/// group's replicas, then the CPU of the group's worker, and then the CPUs of all workers
/// (Group::of_partition).
struct GroupRanks {
  core::Partition partition;
  std::int64_t group = 0;

  [[nodiscard]] core::Rank to_cluster(core::Rank own) const {
    const auto size = static_cast<core::Rank>(partition.group_size());
    if (own < size) return static_cast<core::Rank>(partition.replica({group, own}));
    const auto replicas = static_cast<core::Rank>(partition.replicas);
    return own == size ? replicas + static_cast<core::Rank>(group) : replicas + own - size - 1;
  }
  /// Converts a rank of the cluster to a rank of the group; -1 if the rank is not in the group.
  /// REQUIRES: every group is one worker.
  [[nodiscard]] core::Rank to_group(core::Rank rank) const {
    const auto size = static_cast<core::Rank>(partition.group_size());
    if (rank < partition.replicas) {
      const core::Partition::Place place = partition.place(rank);
      return place.group == group ? static_cast<core::Rank>(place.rank) : -1;
    }
    const auto worker = static_cast<std::int64_t>(rank - partition.replicas);
    return worker == group ? size : size + 1 + static_cast<core::Rank>(worker);
  }
};

/// Returns the schedule `of_group`, with ranks of the group converted to ranks of the cluster.
/// REQUIRES: the schedule has no multicasts.
std::shared_ptr<const core::Schedule> in_cluster(std::shared_ptr<const core::Schedule> of_group,
                                                 GroupRanks ranks, std::int32_t workers);

/// Returns a schedule for `ranks` ranks in which rank `from` sends an empty message to rank `to`.
std::shared_ptr<const core::Schedule> one_reports(std::int32_t ranks, core::Rank from,
                                                  core::Rank to);

}  // namespace tutti::real
