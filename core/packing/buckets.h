#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/data_type.h"

namespace tutti::core {

// How frameworks other than TensorFlow put gradients into buckets. All take gradients in the order in which they fill buckets,
// and answer indices into it, bucket by bucket. Gradients are never split, nor mixed with those of other types.

struct BucketGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;
};

/// PyTorch's DistributedDataParallel: a gradient is appended to its type's bucket, which is closed once it holds `cap` bytes OR
/// MORE, so that it overshoots by up to one gradient; the first bucket of each type is closed at `first_cap`. Buckets in the order
/// in which they are closed, those that never are at the end.
/// SOURCE: torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size.
std::vector<std::vector<int>> buckets_of_ddp(std::span<const BucketGradient> gradients, Bytes first_cap, Bytes cap);

/// DeepSpeed's ZeRO stages 1 and 2: a bucket is reduced BEFORE a gradient that would make it hold more than `elements`, so that
/// none is larger, but for a gradient that is so by itself. A type of its own ends a bucket.
/// SOURCE: deepspeed/runtime/zero/stage_1_and_2.py, reduce_independent_p_g_buckets_and_remove_grads.
std::vector<std::vector<int>> buckets_of_deepspeed(std::span<const BucketGradient> gradients, std::int64_t elements);

/// Megatron Core: every type has a buffer of its own, in which a bucket is closed once it holds `elements` OR MORE. Buckets in
/// the order of the types' first gradients, then as they are filled.
/// SOURCE: megatron/core/distributed/param_and_grad_buffer.py.
std::vector<std::vector<int>> buckets_of_megatron(std::span<const BucketGradient> gradients, std::int64_t elements);
/// The size of a bucket where nobody says: so that a ring's chunks hold a million elements.
/// SOURCE: megatron/core/distributed/distributed_data_parallel.py.
std::int64_t usual_megatron_bucket(std::int64_t replicas);

/// BytePS: a tensor is cut into parts of `partition` bytes, the last of what is left. Answers the parts' elements.
/// SOURCE: byteps/common/operations.cc, PartitionTensor.
std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition);
/// `asked` as BytePS takes it: up to the next multiple of a page (4096 bytes) per GPU of a worker.
/// SOURCE: byteps/common/global.cc.
Bytes byteps_partition(Bytes asked, int replicas_per_worker);

}  // namespace tutti::core
