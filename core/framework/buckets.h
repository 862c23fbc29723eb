#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

// Helpers for frameworks with buckets. The bucketing functions of frameworks take gradients in the
// framework's own order, and return for each bucket the indices of its gradients in that order.

struct BucketGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;

  [[nodiscard]] std::int64_t bytes() const { return elements * size_of(type).count(); }
};

/// Returns the gradients in the order in which they become ready. Within a segment of the backward
/// pass, the gradient that was created last comes first.
std::vector<int> as_they_become_ready(const Workload& workload);
std::vector<int> last_created_first(const Workload& workload);

/// Returns the sizes and types of the gradients with the indices `order`, in this order.
std::vector<BucketGradient> gradients_in(const std::vector<int>& order, const Workload& workload);
/// Makes a bucket from each list of indices into `order`. The gradients of a bucket follow each
/// other without gaps.
std::vector<Bucket> side_by_side(const std::vector<int>& order,
                                 const std::vector<std::vector<int>>& buckets,
                                 const Workload& workload);

/// Sets the launches of `strategy` to serial and its update to one update after the last bucket,
/// unless the scenario sets these fields.
void lower_to_one_stream(Strategy& strategy);

/// Formats a size: "25 MiB", "0.5 MiB".
std::string show_mebibytes(Bytes bytes);

}  // namespace tutti::core
