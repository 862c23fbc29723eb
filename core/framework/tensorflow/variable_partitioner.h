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

// Partitioners of variables (tf.compat.v1.fixed_size_partitioner and others;
// tf.distribute.experimental.partitioners in TensorFlow 2). A partitioned variable is a list of
// variables, its parts, that servers hold each by itself.

/// fixed_size_partitioner, FixedShardsPartitioner: as many parts everywhere.
struct FixedSize {
  std::int64_t num_shards = 1;
  bool operator==(const FixedSize&) const = default;
};
/// min_max_variable_partitioner, MinSizePartitioner: as many parts as have that many bytes at
/// least.
struct MinMaxVariable {
  std::int64_t max_partitions = 1;
  std::int64_t min_slice_bytes = 256 << 10;
  bool operator==(const MinMaxVariable&) const = default;
};
/// variable_axis_size_partitioner, MaxSizePartitioner: as few parts as have that many bytes at
/// most.
struct VariableAxisSize {
  std::int64_t max_shard_bytes = 1;
  std::optional<std::int64_t> max_shards;
  bool operator==(const VariableAxisSize&) const = default;
};

struct VariablePartitioner {
  std::variant<FixedSize, MinMaxVariable, VariableAxisSize> rule;
  std::int64_t axis = 0;  ///< the dimension that is cut
  bool operator==(const VariablePartitioner&) const = default;
};

/// Returns TensorFlow's notation: "fixed_size_partitioner(num_shards=4)".
std::string describe(const VariablePartitioner& partitioner);

/// The number of parts of a variable. 1 for scalars, which TensorFlow does not partition, and for
/// variables without elements. REQUIRES: other shapes have the axis. SOURCE:
/// tensorflow/python/ops/partitioned_variables.py;
/// tensorflow/python/distribute/sharded_variable.py.
std::int64_t parts_of(const VariablePartitioner& partitioner, const Variable& variable);

/// Replaces the variables of the workload by their parts, "fc6/weights/part_0" and so on, in the
/// places of the whole ones. The first parts have a row more where rows are left over. Parts of one
/// variable are ready together, and those of a sparse gradient share its rows evenly, as partition
/// strategy "mod" of embedding lookups does. ERRORS (complaints at `field`): shapes without the
/// axis, more than 65,536 parts, rows that are cut along another axis than 0. SOURCE:
/// tensorflow/python/ops/variable_scope.py, _get_partitioned_variable, _iter_slices.
void partition_variables(const VariablePartitioner& partitioner, std::string_view field,
                         Workload& workload, Complaints& complaints);

}  // namespace tutti::core
