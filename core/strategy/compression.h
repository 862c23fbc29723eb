#pragma once

#include <optional>

#include "core/base/data_type.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// Gradients that travel in a narrower type than they are computed in. Converting reads every element in one type and
/// writes it in the other, before it travels and after, at the device's memory bandwidth.
struct Compression {
  DataType type = DataType::kFloat16;
  /// Each pack as a whole, right before it leaves (SOURCE: pytorch/pytorch
  /// torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, fp16_compress_hook); else each gradient by itself as soon as
  /// it is ready, so that packs are made of what came out (SOURCE: horovod/horovod horovod/torch/optimizer.py,
  /// _allreduce_grad_async, and compression.py, FP16Compressor).
  bool of_packs = false;

  bool operator==(const Compression&) const = default;
};

/// What gradients of `type` travel as. Integers are not converted.
DataType sent_as(const std::optional<Compression>& compression, DataType type);

/// Read and written when so many elements are converted; nothing if there is nothing to convert.
Bytes converted(std::int64_t elements, DataType from, DataType to);

/// The workload with its gradients in the types in which they travel: what bounds of communication are about.
Workload as_sent(Workload workload, const std::optional<Compression>& compression);

}  // namespace tutti::core
