#include "core/framework/buckets.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tutti::core {

std::vector<int> as_they_become_ready(const Workload& workload) {
  std::vector<int> order;
  for (const BackwardSegment& segment : workload.segments) {
    std::vector<int> together = segment.variables;
    std::sort(together.rbegin(), together.rend());
    order.insert(order.end(), together.begin(), together.end());
  }
  return order;
}

std::vector<int> last_created_first(const Workload& workload) {
  std::vector<int> order(workload.gradients.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

std::vector<BucketGradient> gradients_in(const std::vector<int>& order, const Workload& workload) {
  std::vector<BucketGradient> made;
  for (const int v : order) {
    const Variable& gradient = workload.gradients[v];
    made.push_back({gradient.elements, gradient.type});
  }
  return made;
}

std::vector<Bucket> side_by_side(const std::vector<int>& order,
                                 const std::vector<std::vector<int>>& buckets,
                                 const Workload& workload) {
  std::vector<Bucket> made;
  for (const std::vector<int>& indices : buckets) {
    std::int64_t offset = 0;
    Bucket& bucket = made.emplace_back();
    for (const int i : indices) {
      const int variable = order[i];
      const std::int64_t count = workload.gradients[variable].elements;
      bucket.members.push_back({variable, 0, count, offset});
      offset += count;
    }
  }
  return made;
}

void lower_to_one_stream(Strategy& strategy) {
  strategy.launch = strategy.requested_launch.value_or(Launch::kSerial);
  strategy.launch_order = LaunchOrder::kPlanOrder;
  strategy.update = strategy.requested_update.value_or(Update::kAfterAll);
}

std::string show_mebibytes(Bytes bytes) {
  return fmt::format("{:g} MiB", static_cast<double>(bytes.count()) / (1 << 20));
}

}  // namespace tutti::core
