#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

// What frameworks that put gradients into buckets have in common. All take gradients in an order of their own, and answer indices into
// it, bucket by bucket.

struct BucketGradient {
  std::int64_t elements = 0;
  DataType type = DataType::kFloat32;

  [[nodiscard]] std::int64_t bytes() const { return elements * size_of(type).count(); }
};

/// The order in which gradients become ready; of one segment of the backward pass last-created first.
std::vector<int> as_they_become_ready(const Workload& workload);
std::vector<int> last_created_first(const Workload& workload);

/// The gradients in that order.
std::vector<BucketGradient> gradients_in(const std::vector<int>& order, const Workload& workload);
/// Of each bucket of indices into `order`: its gradients side by side.
std::vector<Bucket> side_by_side(const std::vector<int>& order, const std::vector<std::vector<int>>& buckets,
                                 const Workload& workload);

/// One stream for all buckets, in their order, and one update after the last, unless the scenario asks for something else.
void lower_to_one_stream(Strategy& strategy);

/// "25 MiB", "0.5 MiB"
std::string show_mebibytes(Bytes bytes);

}  // namespace tutti::core
