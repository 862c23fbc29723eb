#pragma once

#include <optional>
#include <string>

#include "core/base/units.h"
#include "core/text/fields.h"

namespace tutti::core {

struct Strategy;

/// The packing settings of MultiWorkerAllReduce, of tf_cnn_benchmarks, and of CollectiveAllReduce
/// in TensorFlow before 2.2.
struct TensorFlowPacking {
  int num_packs = 0;
  Bytes agg_small_grads_max_bytes;
  int agg_small_grads_max_group = 10;
  bool agg_small_grads_exact_group = false;
  std::optional<int> merge_scope;

  void apply(Strategy& strategy) const;
};

/// The names of the packing fields in a message of the scenario. An empty name means that the
/// message has no such field.
struct TensorFlowPackingFields {
  std::string what;  ///< beginning of error messages
  std::string num_packs;
  bool agg_small_grads = false;
  std::string merge_scope;
};

/// Reads the packing settings.
/// ERRORS (complaints): a value is out of range; a field is set without the field to which it
/// belongs.
TensorFlowPacking packing_from(const google::protobuf::Message& message,
                               const TensorFlowPackingFields& names, Fields& fields);

}  // namespace tutti::core
