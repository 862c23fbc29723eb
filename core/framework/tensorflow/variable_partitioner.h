#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/text/places.h"
#include "core/workload/workload.h"

namespace tutti::core {

// The partitioners of variables in TensorFlow (tf.compat.v1.fixed_size_partitioner and others; in
// TensorFlow 2, tf.distribute.experimental.partitioners). A partitioned variable consists of parts.
// Each part is a separate variable on a server.

/// The rule of fixed_size_partitioner and FixedShardsPartitioner: every variable has the same
/// number of parts, except variables that have fewer elements than this number along the axis.
struct FixedSize {
  std::int64_t num_shards = 1;
  bool operator==(const FixedSize&) const = default;
};
/// The rule of min_max_variable_partitioner and MinSizePartitioner: as many parts as possible, with
/// about `min_slice_bytes` or more per part.
struct MinMaxVariable {
  std::int64_t max_partitions = 1;
  std::int64_t min_slice_bytes = 256 << 10;
  bool operator==(const MinMaxVariable&) const = default;
};
/// The rule of variable_axis_size_partitioner and MaxSizePartitioner: as few parts as possible,
/// with at most `max_shard_bytes` bytes per part, but never more than `max_shards` parts.
struct VariableAxisSize {
  std::int64_t max_shard_bytes = 1;
  std::optional<std::int64_t> max_shards;
  bool operator==(const VariableAxisSize&) const = default;
};

struct VariablePartitioner {
  std::variant<FixedSize, MinMaxVariable, VariableAxisSize> rule;
  std::int64_t axis = 0;  ///< index of the dimension that is divided
  bool operator==(const VariablePartitioner&) const = default;
};

/// Returns TensorFlow's notation: "fixed_size_partitioner(num_shards=4)".
std::string describe(const VariablePartitioner& partitioner);

/// Returns TensorFlow 2's notation: "FixedShardsPartitioner(num_shards=4)".
/// REQUIRES: `axis` is 0. TensorFlow 2 cannot divide other dimensions.
std::string describe_for_tensorflow_2(const VariablePartitioner& partitioner);

/// Returns the number of parts into which a variable is divided. Scalars and variables without
/// elements have one part.
/// REQUIRES: all variables except scalars and variables without elements have a dimension `axis`.
/// SOURCE: tensorflow/python/ops/partitioned_variables.py;
/// tensorflow/python/distribute/sharded_variable.py.
std::int64_t parts_of(const VariablePartitioner& partitioner, const Variable& variable);

/// Replaces each variable of the workload by its parts, which are named "fc6/weights/part_0" and so
/// on. If the number of parts does not divide the size of the dimension, the first parts are longer
/// by one. The gradients of all parts of a variable become ready at the same time. The rows of a
/// sparse gradient are distributed evenly over the parts, as in embedding lookups with partition
/// strategy "mod". ERRORS (complaints at `field`): a shape does not have the axis; there are more
/// than 65,536 parts; rows of a sparse gradient would be split.
/// SOURCE: tensorflow/python/ops/variable_scope.py, _get_partitioned_variable, _iter_slices.
void partition_variables(const VariablePartitioner& partitioner, std::string_view field,
                         Workload& workload, Complaints& complaints);

}  // namespace tutti::core
