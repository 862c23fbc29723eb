#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/framework/byteps/keys.h"
#include "core/workload/workload.h"

namespace tutti::core {

// How frameworks other than TensorFlow pack and launch, by the names of their own settings (core/proto/scenario.proto has their
// units and defaults).

/// torch.nn.parallel.DistributedDataParallel.
struct PytorchDdp {
  Bytes first_bucket;
  Bytes bucket_cap;
  bool gradient_as_bucket_view = false;
};

/// DeepSpeed's ZeRO, stages 1 and 2.
struct DeepSpeed {
  std::int64_t reduce_bucket_size = 500'000'000;  ///< elements
  bool overlap_comm = false;
};

/// Megatron Core's DistributedDataParallel.
struct Megatron {
  bool overlap_grad_reduce = false;
  std::optional<std::int64_t> bucket_size;  ///< elements
};

/// BytePS.
struct BytePs {
  Bytes partition;
  std::int64_t credit = 0;  ///< partitions of a worker that are reduced at a time, by priority; 0: as many as are ready
  KeyHash hash = KeyHash::kDjb2;
};

/// Horovod.
struct Horovod {
  Bytes fusion_threshold;
  Time cycle;
  std::int32_t cache_capacity = 1024;  ///< gradients
};

using Framework = std::variant<PytorchDdp, DeepSpeed, Megatron, BytePs, Horovod>;

/// "PyTorch DDP, buckets of 25 MiB, the first of 1 MiB".
std::string describe(const Framework& framework);

/// A stretch of one gradient inside a pack.
struct Member {
  int variable = 0;        ///< index into Workload::gradients
  std::int64_t first = 0;  ///< element of the gradient
  std::int64_t count = 0;
  std::int64_t offset = 0;  ///< element of the pack
};

/// What travels as one buffer, before it is known how.
struct Bucket {
  std::vector<Member> members;  ///< of one type
  bool copied_in = false;       ///< gradients are copied into the bucket
  bool copied_out = false;      ///< … and back
  bool needs_all_gradients = false;
  int also_needs = -1;  ///< a gradient of another bucket that must be ready, too: the one that did not fit
};

/// The packs that a framework makes of the gradients, in the order in which it launches them.
std::vector<Bucket> buckets_of(const Framework& framework, const Workload& workload, std::int64_t replicas,
                               int replicas_per_worker);

}  // namespace tutti::core
