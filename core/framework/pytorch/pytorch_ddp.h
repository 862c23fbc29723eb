#pragma once

#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of torch.nn.parallel.DistributedDataParallel. core/proto/framework documents their
/// units and defaults.
struct PytorchDdp {
  Bytes first_bucket;
  Bytes bucket_cap;
  bool gradient_as_bucket_view = false;
};

/// Returns the buckets. A gradient is added to the open bucket of its data type. A bucket is closed
/// when it holds `cap` bytes OR MORE (for the first bucket of each type, `first_cap`). The bucket
/// is therefore larger than the cap by up to one gradient. Buckets are in the order in which they
/// are closed. The buckets that are still open after the last gradient come last. Gradients are not
/// split, and types are not mixed.
/// SOURCE: torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size.
std::vector<std::vector<int>> buckets_of_ddp(std::span<const BucketGradient> gradients,
                                             Bytes first_cap, Bytes cap);

std::shared_ptr<const Framework> pytorch_ddp(const PytorchDdp& options);

FrameworkKind pytorch_ddp_kind();

}  // namespace tutti::core
