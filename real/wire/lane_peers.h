#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/schedule/senders.h"
#include "core/timeline/timeline.h"

namespace tutti::real {

/// Workers write down what their lanes did; from whom a step received is in the schedule. This joins the two, for the tracks of
/// one training step at a time.
class LanePeers {
 public:
  /// REQUIRES: the scenario outlives it.
  explicit LanePeers(const core::Scenario& scenario);

  void begin_step() { tracks_.clear(); }
  /// Spans of `pack` in this step lie on that track of the device's lane.
  void add(std::int32_t worker, const std::string& device, core::Lane lane, std::int32_t pack, core::TrackId track);
  /// Fills in from where the span of that lane received, if it did and that is on a track.
  void join(std::int32_t worker, const std::string& device, core::Lane lane, core::Span& span);

 private:
  using Device = std::pair<std::int32_t, std::string>;
  struct PackRanks {
    std::map<Device, core::Rank> rank_of;
    std::vector<Device> devices;
    std::optional<core::Senders> senders;  ///< made when first asked for
  };

  PackRanks& ranks_of(std::int32_t pack);

  const core::Scenario& scenario_;
  std::vector<std::optional<PackRanks>> packs_;
  std::map<std::tuple<std::int32_t, Device, core::Lane>, core::TrackId> tracks_;  ///< by pack
};

}  // namespace tutti::real
