#pragma once

#include <optional>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/byteps/keys.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of BytePS under BytePS's names. Units and defaults are documented in
/// core/proto/framework.
struct BytePs {
  Bytes partition;
  std::int64_t credit = 0;  ///< maximum number of a worker's partitions in flight; 0: no limit
  KeyHash hash = KeyHash::kDjb2;
  /// True: partitions are pushed to servers and pulled from them, as BytePS does. False: only
  /// BytePS's partitioning is used, with another algorithm.
  bool pushes = false;
  std::optional<std::int64_t> servers_on_workers;
};

/// Returns the numbers of elements of a tensor's partitions. Each has `partition` bytes, except
/// that the last partition has the remainder.
/// SOURCE: byteps/common/operations.cc, PartitionTensor.
std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition);
/// Returns the partition size `asked` rounded up as BytePS does: to a multiple of 4096 bytes (a
/// page) times the GPUs of a worker.
/// SOURCE: byteps/common/global.cc.
Bytes byteps_partition(Bytes requested, int replicas_per_worker);

/// Returns the partitions of all gradients, in the order in which the gradients become ready.
std::vector<Bucket> partitions_of(const BytePs& options, const Workload& workload,
                                  int replicas_per_worker);

std::shared_ptr<const Framework> byteps(const BytePs& options);
/// Reads the options from a scenario's strategy, and reports contradictions.
std::shared_ptr<const Framework> read_byteps(const StrategyText& text);

FrameworkKind byteps_kind();

}  // namespace tutti::core
