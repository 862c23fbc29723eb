#pragma once

#include <optional>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/byteps/keys.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of BytePS, with BytePS's names (core/proto/framework has units and defaults).
struct BytePs {
  Bytes partition;
  std::int64_t credit = 0;  ///< limit of a worker's partitions in flight, by priority; 0: no limit
  KeyHash hash = KeyHash::kDjb2;
  /// True: BytePS as a whole, which pushes partitions to servers and pulls them. False: only its
  /// partitioning, with some other algorithm.
  bool pushes = false;
  std::optional<std::int64_t> servers_on_workers;
};

/// Returns the elements of the parts when a tensor is cut into parts of `partition` bytes; the last
/// has the remainder.
/// SOURCE: byteps/common/operations.cc, PartitionTensor.
std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition);
/// Returns `asked` rounded up as BytePS does: to a multiple of a page (4096 bytes) per GPU of a
/// worker.
/// SOURCE: byteps/common/global.cc.
Bytes byteps_partition(Bytes asked, int replicas_per_worker);

/// Returns all partitions of the gradients, in the order in which these become ready.
std::vector<Bucket> partitions_of(const BytePs& options, const Workload& workload,
                                  int replicas_per_worker);

std::shared_ptr<const Framework> byteps(const BytePs& options);
/// Reads the options of a strategy, and reports contradictions.
std::shared_ptr<const Framework> read_byteps(const StrategyText& text);

FrameworkKind byteps_kind();

}  // namespace tutti::core
