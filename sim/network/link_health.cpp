#include "sim/network/link_health.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::sim {

using core::Bandwidth;
using core::Bytes;
using core::kNever;
using core::LinkId;
using core::Time;
using core::Wide;

namespace {

constexpr std::int64_t kMillion = 1'000'000;

std::int64_t product(std::int64_t a_ppm, std::int64_t b_ppm) {
  return a_ppm == 0 || b_ppm == 0 ? 0 : std::max<std::int64_t>(1, a_ppm * b_ppm / kMillion);
}

Time exponential(Time mean, core::Random& random) {
  const std::uint64_t u = std::max<std::uint64_t>(1, random.next());
  const std::uint64_t ps = core::exponential(static_cast<std::uint64_t>(mean.count()), u);
  return Time(static_cast<std::int64_t>(std::clamp<std::uint64_t>(
      ps, 1, static_cast<std::uint64_t>(core::kLongestDuration.count()))));
}

}  // namespace

Bandwidth part_of(Bandwidth bandwidth, std::int64_t share_ppm) {
  if (share_ppm == 0) return Bandwidth(0);
  const Wide part = static_cast<Wide>(bandwidth.count()) * static_cast<Wide>(share_ppm) / kMillion;
  return Bandwidth(std::max<std::int64_t>(1, static_cast<std::int64_t>(part)));
}

// --- one link ---

/// Adds background traffic. Bursts start in their steady state: the probability that a burst is in
/// progress at time 0 equals the share of time with bursts. The remaining length of such a burst
/// has the same distribution as a whole burst, because the lengths of bursts are exponentially
/// distributed.
void LinkBandwidth::add(const core::BackgroundLoad& load, std::uint64_t seed) {
  const std::int64_t left = kMillion - load.share_ppm;
  if (load.burst == Time()) {
    constant_ppm_ = product(constant_ppm_, left);
    return;
  }
  // Use other random numbers than the noise, which has the same seed.
  core::Random by_seed(seed ^ 0x6275727374u);
  core::Random by_entry(by_seed.next() ^ static_cast<std::uint64_t>(load.entry));
  Burst burst{left, load.burst, load.pause,
              core::Random(by_entry.next() ^ static_cast<std::uint64_t>(link_))};
  const Wide cycle = static_cast<Wide>((load.burst + load.pause).count());
  burst.on = static_cast<Wide>(burst.random.below(kMillion)) * cycle <
             static_cast<Wide>(load.burst.count()) * static_cast<Wide>(kMillion);
  burst.until = exponential(burst.on ? load.burst : load.pause, burst.random);
  bursts_.push_back(burst);
}

void LinkBandwidth::Burst::toggle() {
  on = !on;
  until = core::later(until, exponential(on ? mean_burst : mean_pause, random));
}

LinkBandwidth::Phase LinkBandwidth::phase_from(Time from) const {
  std::int64_t share = product(changed_ppm_, constant_ppm_);
  for (const Burst& burst : bursts_) {
    if (burst.on) share = product(share, burst.left_ppm);
  }
  return {from, share, part_of(whole_, share)};
}

const LinkBandwidth::Phase* LinkBandwidth::phase(std::size_t number) {
  TUTTI_CHECK(number >= forgotten_, "phase {} was forgotten", number);
  if (phases_.empty()) phases_.push_back(phase_from(Time()));
  while (phases_.size() <= number - forgotten_) {
    Time next = next_change_ < changes_.size() ? changes_[next_change_].at : kNever;
    for (const Burst& burst : bursts_) next = std::min(next, burst.until);
    if (next == kNever || is_down_forever()) return nullptr;
    for (; next_change_ < changes_.size() && changes_[next_change_].at == next; ++next_change_)
      changed_ppm_ = changes_[next_change_].share_ppm;
    for (Burst& burst : bursts_) {
      if (burst.until == next) burst.toggle();
    }
    phases_.push_back(phase_from(next));
  }
  return &phases_[number - forgotten_];
}

std::size_t LinkBandwidth::forget_before(Time now) {
  while (phases_.size() > 1 && phases_[1].from <= now) {
    phases_.pop_front();
    ++forgotten_;
  }
  return forgotten_;
}

// --- all links ---

LinkHealth::LinkHealth(const core::Cluster& cluster, const std::vector<core::LinkChange>& changes,
                       const std::vector<core::BackgroundLoad>& background, std::uint64_t seed) {
  for (const core::LinkChange& change : changes) find_or_add_link(change.link, cluster).add(change);
  for (const core::BackgroundLoad& load : background) {
    for (const LinkId link : load.links) find_or_add_link(link, cluster).add(load, seed);
  }
  std::sort(links_.begin(), links_.end());
}

LinkBandwidth& LinkHealth::find_or_add_link(LinkId link, const core::Cluster& cluster) {
  const auto known = by_link_.find(link);
  if (known != by_link_.end()) return known->second;
  links_.push_back(link);
  return by_link_.emplace(link, LinkBandwidth(link, cluster.link(link).bandwidth)).first->second;
}

Time LinkHealth::tail(LinkId link, Bytes bytes, Bandwidth rate, Time head) {
  LinkBandwidth& course = by_link_.at(link);
  Wide left = static_cast<Wide>(bytes.count()) * core::kPicosecondsPerSecond;
  Time now = head;
  std::size_t number = 0;
  if (course.has_bursts()) number = course.forget_before(head);
  while (const LinkBandwidth::Phase* const phase = course.phase(number)) {
    // Copy the bandwidth, because the next call of phase() may invalidate the pointer.
    const auto speed = static_cast<Wide>(std::min(rate, phase->bandwidth).count());
    const LinkBandwidth::Phase* const next = course.phase(++number);
    const Time end = next ? next->from : kNever;
    if (end <= now) continue;
    const Wide carried = speed * static_cast<Wide>((end - now).count());
    if (speed > 0 && left <= carried) {
      const auto longest = static_cast<Wide>(core::kLongestDuration.count());
      return core::later(
          now, Time(static_cast<std::int64_t>(std::min(longest, (left + speed - 1) / speed))));
    }
    left -= carried;
    now = end;
    if (now > core::kHorizon) return now;  // the run stops before this time
  }
  return left == 0 ? now : kNever;
}

}  // namespace tutti::sim
