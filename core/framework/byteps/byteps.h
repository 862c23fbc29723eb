#pragma once

#include <optional>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/byteps/keys.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of BytePS, with the names that BytePS uses. Units and defaults are documented in
/// core/proto/framework.
struct BytePs {
  Bytes partition;
  std::int64_t credit = 0;  ///< maximum number of a worker's partitions in flight; 0: no limit
  KeyHash hash = KeyHash::kDjb2;
  /// True if partitions are pushed to servers and pulled from them, as in BytePS. False if another
  /// algorithm reduces the partitions.
  bool pushes = false;
  std::optional<std::int64_t> servers_on_workers;
};

/// Returns the number of elements of each partition of a tensor. Every partition has `partition`
/// bytes, except the last one, which has the remainder. SOURCE: byteps/common/operations.cc,
/// PartitionTensor.
std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition);
/// Returns the requested partition size `asked`, rounded up as in BytePS: to a multiple of 4096
/// bytes (a page) times the number of GPUs of a worker. SOURCE: byteps/common/global.cc.
Bytes byteps_partition(Bytes requested, int replicas_per_worker);

/// Returns the partitions of all gradients, in the order in which the gradients become ready.
std::vector<Bucket> partitions_of(const BytePs& options, const Workload& workload,
                                  int replicas_per_worker);

std::shared_ptr<const Framework> byteps(const BytePs& options);
/// Reads the options from the strategy of a scenario, and reports contradictions.
std::shared_ptr<const Framework> read_byteps(const StrategyText& text);

FrameworkKind byteps_kind();

}  // namespace tutti::core
