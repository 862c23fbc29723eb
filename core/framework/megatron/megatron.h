#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// Megatron Core's DistributedDataParallel, by the names of its settings (core/proto/framework has their units and defaults).
struct Megatron {
  bool overlap_grad_reduce = false;
  std::optional<std::int64_t> bucket_size;  ///< elements
};

/// Every type has a buffer of its own, in which a bucket is closed once it holds `elements` OR MORE. Buckets in the order of the types'
/// first gradients, then as they are filled.
/// SOURCE: megatron/core/distributed/param_and_grad_buffer.py.
std::vector<std::vector<int>> buckets_of_megatron(std::span<const BucketGradient> gradients, std::int64_t elements);
/// The size of a bucket where nobody says: so that a ring's chunks hold a million elements.
/// SOURCE: megatron/core/distributed/distributed_data_parallel.py.
std::int64_t usual_megatron_bucket(std::int64_t replicas);

std::shared_ptr<const Framework> megatron(const Megatron& options);

FrameworkKind megatron_kind();

}  // namespace tutti::core
