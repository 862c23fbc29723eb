#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/scenario/conditions.h"

namespace tutti::sim {

/// The bandwidth of one link over time, as a sequence of phases with constant bandwidth. The
/// bandwidth changes at given times. Background traffic, which is constant or comes in bursts, also
/// reduces the bandwidth. Phases are created on demand, because bursts may continue forever.
class LinkBandwidth {
 public:
  LinkBandwidth(core::LinkId link, core::Bandwidth whole) : link_(link), whole_(whole) {}

  /// REQUIRES: changes are added in order of time.
  void add(const core::LinkChange& change) { changes_.push_back(change); }
  void add(const core::BackgroundLoad& load, std::uint64_t seed);

  struct Phase {
    core::Time from;
    std::int64_t share_ppm = 1'000'000;
    core::Bandwidth bandwidth;
  };
  /// Returns the phase with this number. Phase 0 begins at time 0. Returns null if an earlier phase
  /// lasts forever.
  const Phase* phase(std::size_t number);
  /// Removes the phases that ended at `now` or earlier. These phases must not be requested again.
  /// Returns the number of the first remaining phase.
  std::size_t forget_before(core::Time now);
  [[nodiscard]] bool has_bursts() const { return !bursts_.empty(); }
  /// Returns true if the link is down and no later change restores it.
  [[nodiscard]] bool is_down_forever() const {
    return changed_ppm_ == 0 && next_change_ == changes_.size();
  }

 private:
  struct Burst {
    /// The share of the bandwidth that messages can use during a burst, in millionths.
    std::int64_t left_ppm = 1'000'000;
    core::Time mean_burst, mean_pause;
    core::Random random;
    bool on = true;
    core::Time until = core::kNever;
    void toggle();
  };
  [[nodiscard]] Phase phase_from(core::Time from) const;

  core::LinkId link_;
  core::Bandwidth whole_;
  std::vector<core::LinkChange> changes_;
  std::size_t next_change_ = 0;
  std::int64_t changed_ppm_ = 1'000'000;
  /// The share of the bandwidth that messages can use despite constant background traffic, in
  /// millionths.
  std::int64_t constant_ppm_ = 1'000'000;
  std::vector<Burst> bursts_;
  std::deque<Phase> phases_;
  std::size_t forgotten_ = 0;
};

/// The links whose bandwidth changes during the run.
class LinkHealth {
 public:
  LinkHealth() = default;
  /// REQUIRES: changes are in order of time.
  LinkHealth(const core::Cluster& cluster, const std::vector<core::LinkChange>& changes,
             const std::vector<core::BackgroundLoad>& background = {}, std::uint64_t seed = 0);

  [[nodiscard]] bool changes(core::LinkId link) const {
    return !by_link_.empty() && by_link_.contains(link);
  }
  /// Returns the time at which the last byte of a message of `bytes` enters `link` if its first
  /// byte enters at `head`. The message is limited only by the link and by its own maximum rate
  /// `rate`. Returns kNever if the link goes down before this time and stays down. REQUIRES:
  /// changes(link) is true; if there are bursts, calls are in ascending order of `head`.
  [[nodiscard]] core::Time tail(core::LinkId link, core::Bytes bytes, core::Bandwidth rate,
                                core::Time head);

  /// Returns the links whose bandwidth changes, in ascending order.
  [[nodiscard]] const std::vector<core::LinkId>& links() const { return links_; }
  LinkBandwidth& course(core::LinkId link) { return by_link_.at(link); }

 private:
  LinkBandwidth& find_or_add_link(core::LinkId link, const core::Cluster& cluster);

  std::unordered_map<core::LinkId, LinkBandwidth> by_link_;
  std::vector<core::LinkId> links_;
};

/// Returns `share_ppm` millionths of the bandwidth. The result is at least 1 byte per second unless
/// the share is 0.
core::Bandwidth part_of(core::Bandwidth bandwidth, std::int64_t share_ppm);

}  // namespace tutti::sim
