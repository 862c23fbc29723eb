#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/timeline/timeline.h"

namespace tutti::sim {

/// Combines the records of a pack in all groups of replicas. The combined record has the time at
/// which the pack was ready on the last replica, and the time at which it was complete in the last
/// group.
class PackRecords {
 public:
  /// `groups`: the number of groups of replicas that execute the same pack.
  explicit PackRecords(std::int64_t groups) : groups_(groups) {}

  /// Records that the pack is ready on a replica. Calls must be in order of time.
  void ready(std::int32_t step, std::int32_t pack, core::Time now) { ready_[{step, pack}] = now; }
  /// Records that the pack is complete in a group. `in_group` is the group's record; its time
  /// `ready` is not used. Returns the combined record if the pack is complete in all groups, and
  /// otherwise nullopt.
  std::optional<core::PackRecord> over(const core::PackRecord& in_group) {
    core::PackRecord record = in_group;
    const std::pair key{record.step, record.pack};
    if (groups_ > 1) {
      auto& [groups, sum] = over_.try_emplace(key, 0, record).first->second;
      sum.first_start = std::min(sum.first_start, record.first_start);
      sum.last_start = std::max(sum.last_start, record.last_start);
      sum.end = record.end;
      if (++groups < groups_) return std::nullopt;
      record = sum;
      over_.erase(key);
    }
    const auto ready = ready_.find(key);
    record.ready = ready->second;
    ready_.erase(ready);
    return record;
  }

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;  ///< step and pack

  std::int64_t groups_;
  /// The packs that are complete in some but not all groups, with the number of groups in which
  /// they are complete.
  std::map<Key, std::pair<std::int64_t, core::PackRecord>> over_;
  std::map<Key, core::Time> ready_;  ///< for each step and pack, the latest time at which the pack
                                     ///< became ready on a replica
};

}  // namespace tutti::sim
