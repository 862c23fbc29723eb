#pragma once

#include <optional>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/byteps/keys.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of BytePS, with BytePS's names. core/proto/framework documents their units and
/// defaults.
struct BytePs {
  Bytes partition;
  std::int64_t credit = 0;  ///< maximum number of partitions of a worker that are in flight at the
                            ///< same time; 0: no limit
  KeyHash hash = KeyHash::kDjb2;
  /// True if workers push partitions to servers and pull the sums from them, as BytePS does. False
  /// if an algorithm without servers reduces the partitions.
  bool pushes = false;
  std::optional<std::int64_t> servers_on_workers;
};

/// Returns the number of elements of each partition of a tensor. Each partition has `partition`
/// bytes; the last partition of a tensor has the remainder. SOURCE: byteps/common/operations.cc,
/// PartitionTensor.
std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition);
/// Rounds the partition size of a scenario up as BytePS does: to a multiple of 4096 bytes (a page)
/// times the number of GPUs of a worker. SOURCE: byteps/common/global.cc.
Bytes byteps_partition(Bytes requested, int replicas_per_worker);

/// Returns the partitions of all gradients, in the order in which they become ready.
std::vector<Bucket> partitions_of(const BytePs& options, const Workload& workload,
                                  int replicas_per_worker);

std::shared_ptr<const Framework> byteps(const BytePs& options);
/// Reads BytePS's options from the strategy of a scenario, and reports options that contradict each
/// other.
std::shared_ptr<const Framework> read_byteps(const StrategyText& text);

FrameworkKind byteps_kind();

}  // namespace tutti::core
