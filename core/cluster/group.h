#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/partition.h"

namespace tutti::core {

/// The devices that participate in a collective, by rank. The replicas come first. They may be
/// followed by helper ranks on hosts (as in the algorithm pscpu, whose CPUs reduce), which only
/// help with the reduction. A group from of_devices() stores its list of devices; all other groups
/// compute the device of a rank.
class Group {
 public:
  /// Returns the group of all replicas of the cluster, worker by worker. If `hosts` is true, the
  /// hosts of all workers follow: the host of worker w has rank replicas() + w.
  static Group of_cluster(const Cluster& cluster, bool hosts) { return Group(&cluster, hosts, {}); }
  /// Returns group `number` of the groups into which `partition` divides the cluster's replicas. If
  /// `hosts` is true, the replicas of the group are followed by the host of the group's first
  /// replica, and then by the hosts of all workers of the cluster. The host of the first replica
  /// therefore has two ranks.
  static Group of_partition(const Cluster& cluster, const Partition& partition, std::int64_t number,
                            bool hosts = false) {
    Group group(&cluster, hosts, {});
    group.partition_ = partition;
    group.number_ = number;
    return group;
  }
  /// Returns another group of the same partition, with the given number.
  /// REQUIRES: this group was made by of_partition().
  [[nodiscard]] Group in(std::int64_t number) const {
    Group other = *this;
    other.number_ = number;
    return other;
  }
  /// Returns a group of the given devices. Their order is the order of the ranks. REQUIRES:
  /// `cluster` outlives the group.
  static Group of_devices(const Cluster& cluster, std::vector<PartId> devices) {
    return Group(&cluster, false, std::move(devices));
  }

  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  /// The index of this group in its partition; 0 if the group was not made by of_partition().
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] std::int64_t size() const {
    if (!devices_.empty()) return static_cast<std::int64_t>(devices_.size());
    if (partition_) return partition_->group_size() + (hosts_ ? 1 + cluster_->workers() : 0);
    return cluster_->replicas() + (hosts_ ? cluster_->workers() : 0);
  }
  [[nodiscard]] PartId device(std::int64_t rank) const {
    if (!devices_.empty()) return devices_[rank];
    if (partition_) return in_partition(rank);
    const std::int64_t replicas = cluster_->replicas();
    return rank < replicas ? cluster_->replica(rank) : cluster_->host(rank - replicas);
  }

 private:
  Group(const Cluster* cluster, bool hosts, std::vector<PartId> devices)
      : cluster_(cluster), hosts_(hosts), devices_(std::move(devices)) {}

  [[nodiscard]] PartId in_partition(std::int64_t rank) const {
    const std::int64_t replicas = partition_->group_size();
    if (rank < replicas) return cluster_->replica(partition_->replica({number_, rank}));
    const PartId first = cluster_->replica(partition_->replica({number_, 0}));
    return cluster_->host(rank == replicas ? first.worker : rank - replicas - 1);
  }

  const Cluster* cluster_;
  bool hosts_;
  std::vector<PartId> devices_;
  std::optional<Partition> partition_;
  std::int64_t number_ = 0;  ///< index of the group in the partition
};

}  // namespace tutti::core
