#pragma once

#include <optional>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/byteps/keys.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// BytePS, by the names of its settings (core/proto/framework has their units and defaults).
struct BytePs {
  Bytes partition;
  std::int64_t credit = 0;  ///< partitions of a worker that are reduced at a time, by priority; 0: as many as are ready
  KeyHash hash = KeyHash::kDjb2;
  /// It is BytePS whole, which pushes partitions to servers and pulls them, and not its partitions alone, by some algorithm.
  bool pushes = false;
  std::optional<std::int64_t> servers_on_workers;
};

/// A tensor is cut into parts of `partition` bytes, the last of what is left. Answers the parts' elements.
/// SOURCE: byteps/common/operations.cc, PartitionTensor.
std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition);
/// `asked` as BytePS takes it: up to the next multiple of a page (4096 bytes) per GPU of a worker.
/// SOURCE: byteps/common/global.cc.
Bytes byteps_partition(Bytes asked, int replicas_per_worker);

/// All partitions of the gradients, as these become ready.
std::vector<Bucket> partitions_of(const BytePs& options, const Workload& workload, int replicas_per_worker);

std::shared_ptr<const Framework> byteps(const BytePs& options);
/// The options that a strategy gives it, and complaints of what contradicts them.
std::shared_ptr<const Framework> read_byteps(const StrategyText& text);

FrameworkKind byteps_kind();

}  // namespace tutti::core
