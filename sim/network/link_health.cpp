#include "sim/network/link_health.h"

#include <algorithm>

namespace tutti::sim {

using core::Bandwidth;
using core::Bytes;
using core::kNever;
using core::Time;
using core::Wide;

Bandwidth part_of(Bandwidth bandwidth, std::int64_t share_ppm) {
  if (share_ppm == 0) return Bandwidth(0);
  const Wide part = static_cast<Wide>(bandwidth.count()) * static_cast<Wide>(share_ppm) / 1'000'000;
  return Bandwidth(std::max<std::int64_t>(1, static_cast<std::int64_t>(part)));
}

LinkHealth::LinkHealth(const core::Cluster& cluster, const std::vector<core::LinkChange>& changes) {
  for (const core::LinkChange& change : changes) {
    const Bandwidth whole = cluster.link(change.link).bandwidth;
    std::vector<Phase>& phases = links_[change.link];
    if (phases.empty()) phases.push_back({Time(), whole});
    phases.push_back({change.at, part_of(whole, change.share_ppm)});
  }
}

Time LinkHealth::tail(core::LinkId link, Bytes bytes, Bandwidth rate, Time head) const {
  const std::vector<Phase>& phases = links_.at(link);
  Wide left = static_cast<Wide>(bytes.count()) * core::kPicosecondsPerSecond;
  Time now = head;
  for (std::size_t p = 0; p < phases.size(); ++p) {
    const Time end = p + 1 < phases.size() ? phases[p + 1].from : kNever;
    if (end <= now) continue;
    const auto speed = static_cast<Wide>(std::min(rate, phases[p].bandwidth).count());
    const Wide carried = speed * static_cast<Wide>((end - now).count());
    if (speed > 0 && left <= carried) {
      const auto longest = static_cast<Wide>(core::kLongestDuration.count());
      return core::later(now, Time(static_cast<std::int64_t>(std::min(longest, (left + speed - 1) / speed))));
    }
    left -= carried;
    now = end;
  }
  return left == 0 ? now : kNever;
}

}  // namespace tutti::sim
