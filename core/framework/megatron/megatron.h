#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of Megatron Core's DistributedDataParallel, with the names that Megatron Core uses.
/// core/proto/framework documents their units and defaults.
struct Megatron {
  bool overlap_grad_reduce = false;
  std::optional<std::int64_t> bucket_size;  ///< elements per bucket
  bool average_in_collective = false;
};

/// Returns the buckets. Each data type has its own buffer. A bucket of a buffer is closed when it
/// holds `elements` elements OR MORE. Buckets of the same type are in the order in which they are
/// filled. Types are in the order of their first gradients.
/// SOURCE: megatron/core/distributed/param_and_grad_buffer.py.
std::vector<std::vector<int>> buckets_of_megatron(std::span<const BucketGradient> gradients,
                                                  std::int64_t elements);
/// Returns the default bucket size in elements: one million per replica, but at least 40 million.
/// With this bucket size, each chunk of a ring has at least one million elements.
/// SOURCE: megatron/core/distributed/distributed_data_parallel.py.
std::int64_t usual_megatron_bucket(std::int64_t replicas);

std::shared_ptr<const Framework> megatron(const Megatron& options);

FrameworkKind megatron_kind();

}  // namespace tutti::core
