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

}  // namespace tutti::core
