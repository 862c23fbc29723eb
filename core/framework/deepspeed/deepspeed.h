#pragma once

#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of DeepSpeed's ZeRO stages 1 and 2, with DeepSpeed's names. core/proto/framework
/// documents their units and defaults.
struct DeepSpeed {
  std::int64_t reduce_bucket_size = 500'000'000;  ///< elements per bucket
  bool overlap_comm = false;
};

/// Returns the buckets. A bucket is closed BEFORE a gradient that would make it larger than
/// `elements`. Therefore only a bucket with a single gradient can have more than `elements`
/// elements. A bucket is also closed if the next gradient has another type.
/// SOURCE: deepspeed/runtime/zero/stage_1_and_2.py,
/// reduce_independent_p_g_buckets_and_remove_grads.
std::vector<std::vector<int>> buckets_of_deepspeed(std::span<const BucketGradient> gradients,
                                                   std::int64_t elements);

std::shared_ptr<const Framework> deepspeed(const DeepSpeed& options);

FrameworkKind deepspeed_kind();

}  // namespace tutti::core
