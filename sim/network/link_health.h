#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/scenario/conditions.h"

namespace tutti::sim {

/// What one link carries over time: changes at known times, and what others take of it, always or in bursts. Phases are
/// made as they are asked for, so that bursts may go on for ever.
class LinkCourse {
 public:
  LinkCourse(core::LinkId link, core::Bandwidth whole) : link_(link), whole_(whole) {}

  /// REQUIRES: in order of time.
  void add(const core::LinkChange& change) { changes_.push_back(change); }
  void add(const core::BackgroundLoad& load, std::uint64_t seed);

  struct Phase {
    core::Time from;
    std::int64_t share_ppm = 1'000'000;
    core::Bandwidth bandwidth;
  };
  /// From phase 0, which begins at 0, on; nothing if the phases before last for ever.
  const Phase* phase(std::size_t number);
  /// Phases that have ended by `now` are not asked for again; answers the number of the one that has not, of those that
  /// were made.
  std::size_t forget_before(core::Time now);
  [[nodiscard]] bool has_bursts() const { return !bursts_.empty(); }
  /// It is dead, and no change will bring it back.
  [[nodiscard]] bool is_dead_for_good() const { return changed_ppm_ == 0 && next_change_ == changes_.size(); }

 private:
  struct Burst {
    std::int64_t left_ppm = 1'000'000;  ///< of the bandwidth while it lasts
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
  std::int64_t constant_ppm_ = 1'000'000;  ///< what those leave who always send
  std::vector<Burst> bursts_;
  std::deque<Phase> phases_;
  std::size_t forgotten_ = 0;
};

/// Links whose bandwidth changes.
class LinkHealth {
 public:
  LinkHealth() = default;
  /// REQUIRES: changes are in order of time.
  LinkHealth(const core::Cluster& cluster, const std::vector<core::LinkChange>& changes,
             const std::vector<core::BackgroundLoad>& background = {}, std::uint64_t seed = 0);

  [[nodiscard]] bool changes(core::LinkId link) const { return !courses_.empty() && courses_.contains(link); }
  /// When the last of `bytes` enters `link` if the first does at `head` and nothing but the link and `rate`, what the
  /// message gets at most, limits them. kNever if the link dies before. REQUIRES: changes(link); where there are bursts,
  /// heads come in order.
  [[nodiscard]] core::Time tail(core::LinkId link, core::Bytes bytes, core::Bandwidth rate, core::Time head);

  /// Those links, in order.
  [[nodiscard]] const std::vector<core::LinkId>& links() const { return links_; }
  LinkCourse& course(core::LinkId link) { return courses_.at(link); }

 private:
  LinkCourse& course_of(core::LinkId link, const core::Cluster& cluster);

  std::unordered_map<core::LinkId, LinkCourse> courses_;
  std::vector<core::LinkId> links_;
};

/// What a share of a link's bandwidth is: a whole number of bytes per second, 0 only if the share is.
core::Bandwidth part_of(core::Bandwidth bandwidth, std::int64_t share_ppm);

}  // namespace tutti::sim
