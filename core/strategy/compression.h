#pragma once

#include <optional>

#include "core/base/data_type.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// The type in which gradients are sent, if it is narrower than the type in which they are
/// computed. To convert, a device reads every element in one type and writes it in the other, at
/// its memory bandwidth.
struct Compression {
  DataType type = DataType::kFloat16;
  /// True: a whole pack is converted directly before it is sent (SOURCE: pytorch/pytorch
  /// torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, fp16_compress_hook). False: each
  /// gradient is converted when it is ready, before it is packed (SOURCE: horovod/horovod
  /// horovod/torch/optimizer.py, _allreduce_grad_async, and compression.py, FP16Compressor).
  bool of_packs = false;

  bool operator==(const Compression&) const = default;
};

/// Returns the type in which gradients of type `type` are sent. Integers are not converted.
DataType sent_as(const std::optional<Compression>& compression, DataType type);

/// Returns the number of bytes that a device reads and writes to convert `elements` elements; 0 if
/// the types are equal.
Bytes converted(std::int64_t elements, DataType from, DataType to);

/// Returns the workload with all gradients converted to the types in which they are sent. The lower
/// bounds on communication are computed for this workload.
Workload as_sent(Workload workload, const std::optional<Compression>& compression);

}  // namespace tutti::core
