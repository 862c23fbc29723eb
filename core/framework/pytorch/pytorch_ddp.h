#pragma once

#include <span>
#include <vector>

#include "core/framework/buckets.h"
#include "core/framework/registry.h"

namespace tutti::core {

/// The settings of torch.nn.parallel.DistributedDataParallel, with its names (core/proto/framework
/// has units and defaults).
struct PytorchDdp {
  Bytes first_bucket;
  Bytes bucket_cap;
  bool gradient_as_bucket_view = false;
};

/// Returns the buckets: a gradient is appended to the bucket of its type, which is closed once it
/// holds `cap` bytes OR MORE, so that it exceeds the cap by up to one gradient; the first bucket of
/// each type is closed at `first_cap`. Buckets are in the order in which they are closed, those
/// never closed at the end. Gradients are never split, nor mixed with other types.
/// SOURCE: torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size.
std::vector<std::vector<int>> buckets_of_ddp(std::span<const BucketGradient> gradients,
                                             Bytes first_cap, Bytes cap);

std::shared_ptr<const Framework> pytorch_ddp(const PytorchDdp& options);

FrameworkKind pytorch_ddp_kind();

}  // namespace tutti::core
