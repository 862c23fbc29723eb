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

// TensorFlow's partitioners of variables (tf.compat.v1.fixed_size_partitioner and others;
// tf.distribute.experimental.partitioners in TensorFlow 2). A partitioned variable is a list of
// parts, each of which is a separate variable that is placed on a server.

/// The rule of fixed_size_partitioner and FixedShardsPartitioner: every variable has the same
/// number of parts.
struct FixedSize {
  std::int64_t num_shards = 1;
  bool operator==(const FixedSize&) const = default;
};
/// The rule of min_max_variable_partitioner and MinSizePartitioner: the largest number of parts
/// whose size is about `min_slice_bytes` or more.
struct MinMaxVariable {
  std::int64_t max_partitions = 1;
  std::int64_t min_slice_bytes = 256 << 10;
  bool operator==(const MinMaxVariable&) const = default;
};
/// The rule of variable_axis_size_partitioner and MaxSizePartitioner: the smallest number of parts
/// of at most `max_shard_bytes` bytes.
struct VariableAxisSize {
  std::int64_t max_shard_bytes = 1;
  std::optional<std::int64_t> max_shards;
  bool operator==(const VariableAxisSize&) const = default;
};

struct VariablePartitioner {
  std::variant<FixedSize, MinMaxVariable, VariableAxisSize> rule;
  std::int64_t axis = 0;  ///< the dimension that is divided
  bool operator==(const VariablePartitioner&) const = default;
};

/// Returns TensorFlow's notation: "fixed_size_partitioner(num_shards=4)".
std::string describe(const VariablePartitioner& partitioner);

/// Returns TensorFlow 2's notation: "FixedShardsPartitioner(num_shards=4)".
/// REQUIRES: `axis` is 0, because TensorFlow 2 divides only this dimension.
std::string describe_for_tensorflow_2(const VariablePartitioner& partitioner);

/// Returns the number of parts of a variable. Scalars, which TensorFlow does not partition, and
/// variables without elements have one part.
/// REQUIRES: other variables have a dimension `axis`.
/// SOURCE: tensorflow/python/ops/partitioned_variables.py;
/// tensorflow/python/distribute/sharded_variable.py.
std::int64_t parts_of(const VariablePartitioner& partitioner, const Variable& variable);

/// Replaces each variable of the workload by its parts: "fc6/weights/part_0", …. If the dimension
/// is not a multiple of the number of parts, the first parts are longer by one. The gradients of
/// all parts of a variable become ready at the same time. The rows of a sparse gradient are divided
/// evenly between its parts, as in embedding lookups with partition strategy "mod".
/// ERRORS (complaints at `field`): a shape does not have the axis; there are more than 65,536
/// parts; rows of a sparse gradient would be split.
/// SOURCE: tensorflow/python/ops/variable_scope.py, _get_partitioned_variable, _iter_slices.
void partition_variables(const VariablePartitioner& partitioner, std::string_view field,
                         Workload& workload, Complaints& complaints);

}  // namespace tutti::core
