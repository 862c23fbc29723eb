#pragma once

#include <unordered_map>
#include <vector>

#include "core/scenario/conditions.h"

namespace tutti::sim {

/// Links whose bandwidth changes at known times.
class LinkHealth {
 public:
  LinkHealth() = default;
  /// REQUIRES: changes are in order of time.
  LinkHealth(const core::Cluster& cluster, const std::vector<core::LinkChange>& changes);

  [[nodiscard]] bool changes(core::LinkId link) const { return !links_.empty() && links_.contains(link); }
  /// When the last of `bytes` enters `link` if the first does at `head` and nothing but the link and `rate`, what the
  /// message gets at most, limits them. kNever if the link dies before. REQUIRES: changes(link).
  [[nodiscard]] core::Time tail(core::LinkId link, core::Bytes bytes, core::Bandwidth rate, core::Time head) const;

 private:
  struct Phase {
    core::Time from;
    core::Bandwidth bandwidth;
  };
  std::unordered_map<core::LinkId, std::vector<Phase>> links_;
};

/// What a share of a link's bandwidth is: a whole number of bytes per second, 0 only if the share is.
core::Bandwidth part_of(core::Bandwidth bandwidth, std::int64_t share_ppm);

}  // namespace tutti::sim
