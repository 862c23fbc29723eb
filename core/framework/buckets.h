#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

// Helpers for frameworks with buckets. A framework's bucketing function takes the gradients in an
// order that the framework defines. For each bucket, the function returns the positions of the
// bucket's gradients in this order.

struct BucketGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;

  [[nodiscard]] std::int64_t bytes() const { return elements * size_of(type).count(); }
};

/// Returns the gradients in the order in which they become ready in the backward pass. If several
/// gradients become ready together, the one that was created last comes first.
std::vector<int> as_they_become_ready(const Workload& workload);
std::vector<int> last_created_first(const Workload& workload);

/// Returns the sizes and types of the gradients whose indices are in `order`, in this order.
std::vector<BucketGradient> gradients_in(const std::vector<int>& order, const Workload& workload);
/// Makes one bucket from each list in `buckets`. A list contains positions in `order`. In a bucket,
/// gradients follow each other without gaps.
std::vector<Bucket> side_by_side(const std::vector<int>& order,
                                 const std::vector<std::vector<int>>& buckets,
                                 const Workload& workload);

/// Makes launches serial, and updates all variables once after the last bucket, unless the scenario
/// sets the launches or the updates. Packs are launched in plan order.
void lower_to_one_stream(Strategy& strategy);

/// Formats a size: "25 MiB", "0.5 MiB".
std::string show_mebibytes(Bytes bytes);

}  // namespace tutti::core
