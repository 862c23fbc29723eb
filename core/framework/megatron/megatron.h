#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of Megatron Core's DistributedDataParallel, with the names that Megatron Core uses.
/// Units and defaults are documented in core/proto/framework.
struct Megatron {
  bool overlap_grad_reduce = false;
  std::optional<std::int64_t> bucket_size;  ///< elements per bucket
};

/// Returns the buckets. Every type has its own buffer, in which a bucket is closed once it holds
/// `elements` OR MORE. The buckets of one type are in the order in which they are filled; the types
/// are in the order of their first gradients.
/// SOURCE: megatron/core/distributed/param_and_grad_buffer.py.
std::vector<std::vector<int>> buckets_of_megatron(std::span<const BucketGradient> gradients,
                                                  std::int64_t elements);
/// Returns the default size of a bucket in elements: a million for each replica, but at least 40
/// million. With the default size, a chunk of a ring has at least a million elements.
/// SOURCE: megatron/core/distributed/distributed_data_parallel.py.
std::int64_t usual_megatron_bucket(std::int64_t replicas);

std::shared_ptr<const Framework> megatron(const Megatron& options);

FrameworkKind megatron_kind();

}  // namespace tutti::core
