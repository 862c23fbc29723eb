#pragma once

#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// DeepSpeed's ZeRO, stages 1 and 2, by the names of its settings (core/proto/framework has their units and defaults).
struct DeepSpeed {
  std::int64_t reduce_bucket_size = 500'000'000;  ///< elements
  bool overlap_comm = false;
};

/// A bucket is reduced BEFORE a gradient that would make it hold more than `elements`, so that none is larger, but for a gradient that
/// is so by itself. A type of its own ends a bucket.
/// SOURCE: deepspeed/runtime/zero/stage_1_and_2.py, reduce_independent_p_g_buckets_and_remove_grads.
std::vector<std::vector<int>> buckets_of_deepspeed(std::span<const BucketGradient> gradients, std::int64_t elements);

std::shared_ptr<const Framework> deepspeed(const DeepSpeed& options);

FrameworkKind deepspeed_kind();

}  // namespace tutti::core
