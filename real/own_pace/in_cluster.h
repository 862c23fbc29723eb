#pragma once

#include <memory>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"

namespace tutti::real {

/// A real run knows every device by one rank: replicas worker by worker, then every worker's CPU. Groups of workers that do not wait for
/// each other have ranks of their own: their replicas, the CPU of their worker, and then that of every worker (Group::of_partition).
struct GroupRanks {
  core::Partition partition;
  std::int64_t group = 0;

  [[nodiscard]] core::Rank to_cluster(core::Rank own) const {
    const auto size = static_cast<core::Rank>(partition.group_size());
    if (own < size) return static_cast<core::Rank>(partition.replica({group, own}));
    const auto replicas = static_cast<core::Rank>(partition.replicas);
    return own == size ? replicas + static_cast<core::Rank>(group) : replicas + own - size - 1;
  }
  /// -1: of none here. REQUIRES: groups are workers.
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

/// `of_group` with the cluster's ranks. REQUIRES: no multicasts.
std::shared_ptr<const core::Schedule> in_cluster(std::shared_ptr<const core::Schedule> of_group, GroupRanks ranks,
                                                 std::int32_t workers);

/// One rank tells another, in a message of nothing: between `ranks` ranks.
std::shared_ptr<const core::Schedule> one_tells(std::int32_t ranks, core::Rank from, core::Rank to);

}  // namespace tutti::real
