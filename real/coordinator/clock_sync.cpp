#include "real/coordinator/clock_sync.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tutti::real {

namespace {

/// The maximum number of stored samples. To convert the times of a training step, two samples are
/// sufficient: the last sample before the step and the first sample after the step.
constexpr std::size_t kMaxFences = 8;

/// Returns the maximum change of a clock's offset over `ns` nanoseconds.
std::int64_t drift_over(std::int64_t ns) {
  // The result is rounded up. The operations are in an order that never overflows.
  return std::abs(ns) / 1'000'000 * ClockOffset::kMaxDriftPpm +
         (std::abs(ns) % 1'000'000 * ClockOffset::kMaxDriftPpm + 999'999) / 1'000'000;
}

}  // namespace

void ClockOffset::add(const ClockSample& sample) {
  for (const std::int64_t ns : {sample.sent, sample.received, sample.answered, sample.returned}) {
    // No valid clock shows times outside these limits. Rejecting later times also keeps sums of
    // times from overflowing.
    if (ns < -kLatestNs || ns > kLatestNs) return;
  }
  if (sample.round_trip() < 0) return;  // no ping and its reply have such times
  const Fence fence{sample.received, sample.sent - sample.received,
                    sample.returned - sample.answered};
  const auto agrees = [&](const Fence& old) {
    const std::int64_t drift = drift_over(fence.at - old.at);
    return fence.least <= old.most + drift && old.least - drift <= fence.most;
  };
  if (!std::all_of(fences_.begin(), fences_.end(), agrees)) {
    drift_exceeded_ = true;
    fences_.clear();
  }
  fences_.push_back(fence);
  if (fences_.size() > kMaxFences) fences_.pop_front();
}

ClockOffset::Estimate ClockOffset::at(std::int64_t theirs_ns) const {
  if (fences_.empty()) return {};
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Fence& fence : fences_) {
    const std::int64_t drift = drift_over(theirs_ns - fence.at);
    least = std::max(least, fence.least - drift);
    most = std::min(most, fence.most + drift);
  }
  // Any two of the intervals overlap, because add() drops older samples that contradict a newer
  // sample. Therefore all intervals have a common part.
  const std::int64_t half = (most - least) / 2;
  return {least + half, std::max<std::int64_t>(half + 1, 0)};
}

std::int64_t ClockOffset::latest_bound_ns() const {
  return fences_.empty() ? 0 : at(fences_.back().at).bound_ns;
}

std::int64_t ClockOffset::to_theirs(std::int64_t ours_ns) const {
  if (fences_.empty()) return ours_ns;
  return ours_ns - at(ours_ns - fences_.back().least).offset_ns;
}

}  // namespace tutti::real
