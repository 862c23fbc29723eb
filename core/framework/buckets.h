#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

// Helpers shared by frameworks with buckets. The bucketing functions take gradients in a
// framework-specific order, and return indices into that order, bucket by bucket.

struct BucketGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;

  [[nodiscard]] std::int64_t bytes() const { return elements * size_of(type).count(); }
};

/// Returns the order in which gradients become ready; within a segment of the backward pass,
/// last-created first.
std::vector<int> as_they_become_ready(const Workload& workload);
std::vector<int> last_created_first(const Workload& workload);

/// Returns the gradients in that order.
std::vector<BucketGradient> gradients_in(const std::vector<int>& order, const Workload& workload);
/// Makes a bucket of each list of indices into `order`, with its gradients side by side.
std::vector<Bucket> side_by_side(const std::vector<int>& order,
                                 const std::vector<std::vector<int>>& buckets,
                                 const Workload& workload);

/// Sets one stream for all buckets, in order, and one update after the last, unless the scenario
/// requests otherwise.
void lower_to_one_stream(Strategy& strategy);

/// Formats a size: "25 MiB", "0.5 MiB".
std::string show_mebibytes(Bytes bytes);

}  // namespace tutti::core
