#pragma once

#include <optional>

#include "core/base/data_type.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// The type in which gradients are sent, if it is narrower than the type in which they are
/// computed. The conversions before and after communication read every element in one type and
/// write it in the other type, at the device's memory bandwidth.
struct Compression {
  DataType type = DataType::kFloat16;
  /// True: each pack is converted as a whole, directly before it is sent (SOURCE: pytorch/pytorch
  /// torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, fp16_compress_hook). False: each
  /// gradient is converted as soon as it is ready, and packs consist of converted gradients
  /// (SOURCE: horovod/horovod horovod/torch/optimizer.py, _allreduce_grad_async, and
  /// compression.py, FP16Compressor).
  bool of_packs = false;

  bool operator==(const Compression&) const = default;
};

/// Returns the type in which gradients of `type` are sent. Integers are not converted.
DataType sent_as(const std::optional<Compression>& compression, DataType type);

/// Returns the number of bytes that are read and written to convert `elements` elements; 0 if the
/// types are equal.
Bytes converted(std::int64_t elements, DataType from, DataType to);

/// Returns the workload with the types of its gradients replaced by the types in which they are
/// sent. The lower bounds on communication times use the resulting workload.
Workload as_sent(Workload workload, const std::optional<Compression>& compression);

}  // namespace tutti::core
