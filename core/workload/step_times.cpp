#include <numeric>

#include "core/workload/workload.h"

namespace tutti::core {

namespace {
constexpr std::int64_t kWholeTime = 1'000'000;  // in millionths
}

Time HostGaps::total() const {
  Time sum = forward.value_or(Time());
  for (const std::optional<Time>& gap : backward) sum += gap.value_or(Time());
  return sum;
}

Time StepTimes::backward_total() const {
  return std::accumulate(backward.begin(), backward.end(), Time());
}
Time StepTimes::accumulate_total() const {
  return std::accumulate(accumulate.begin(), accumulate.end(), Time());
}

Time StepTimes::early_passes(std::int32_t passes) const {
  if (passes < 2) return Time();
  return (passes - 1) * (forward + backward_total()) + (passes - 2) * accumulate_total();
}

std::int64_t StepTimes::compute_bound_in_pass(std::size_t segment, std::int32_t pass) const {
  const std::int64_t own =
      backward_compute_bound.empty() ? kWholeTime : backward_compute_bound[segment];
  const Time whole = backward_in_pass(segment, pass);
  if (whole == backward[segment]) return own;
  return static_cast<std::int64_t>(static_cast<Wide>(own) *
                                   static_cast<Wide>(backward[segment].count()) /
                                   static_cast<Wide>(whole.count()));
}

Bytes Workload::bytes() const {
  Bytes total;
  for (const Variable& gradient : gradients) total += gradient.bytes();
  return total;
}

Workload Workload::with_gradients(const std::vector<int>& kept) const {
  Workload part = *this;
  part.gradients.clear();
  part.on_read.clear();
  part.checkpoint_every = 0;
  std::vector<int> now(gradients.size(), -1);
  for (const int v : kept) {
    now[v] = static_cast<int>(part.gradients.size());
    part.gradients.push_back(gradients[v]);
  }
  for (BackwardSegment& segment : part.segments) {
    std::vector<int> left;
    for (const int v : segment.variables) {
      if (now[v] >= 0) left.push_back(now[v]);
    }
    segment.variables = std::move(left);
  }
  return part;
}

}  // namespace tutti::core
