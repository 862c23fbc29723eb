#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/timeline/timeline.h"

namespace tutti::sim {

/// Assembles the record of a pack of a step: when it was ready on the last replica, and when it was
/// complete in the last group.
class PackRecords {
 public:
  /// `groups`: the number of groups of replicas that execute the same pack.
  explicit PackRecords(std::int64_t groups) : groups_(groups) {}

  /// The pack is ready on a replica. To be called in order of time.
  void ready(std::int32_t step, std::int32_t pack, core::Time now) { ready_[{step, pack}] = now; }
  /// The pack is complete in a group: `in_group` has all but the time when it was ready. Returns
  /// the record once it is complete in all groups.
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
  std::map<Key, std::pair<std::int64_t, core::PackRecord>>
      over_;  ///< packs that are complete only in some groups, with the number of those groups
  std::map<Key, core::Time> ready_;  ///< when the last replica so far had the pack ready
};

}  // namespace tutti::sim
