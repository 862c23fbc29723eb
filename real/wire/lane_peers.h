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

/// Completes the spans that workers record for their lanes: if the step of a span received a
/// message, adds the sender of the message. The senders follow from the schedule. This class
/// handles the lanes of one training step at a time.
class LanePeers {
 public:
  /// REQUIRES: the scenario outlives this object.
  explicit LanePeers(const core::Scenario& scenario);

  void begin_step() { tracks_.clear(); }
  /// Registers `track`, which has the spans of one lane of `device` for `pack` in the current
  /// training step.
  void add(std::int32_t worker, const std::string& device, core::Lane lane, std::int32_t pack,
           core::TrackId track);
  /// If the span's step received a message and the sender's lane has a track, sets the sender in
  /// the span.
  void join(std::int32_t worker, const std::string& device, core::Lane lane, core::Span& span);

 private:
  using Device = std::pair<std::int32_t, std::string>;
  struct PackRanks {
    std::map<Device, core::Rank> rank_of;
    std::vector<Device> devices;
    std::optional<core::Senders> senders;  ///< created on demand
  };

  PackRanks& ranks_of(std::int32_t pack);

  const core::Scenario& scenario_;
  std::vector<std::optional<PackRanks>> packs_;
  std::map<std::tuple<std::int32_t, Device, core::Lane>, core::TrackId>
      tracks_;  ///< by pack, device and lane
};

}  // namespace tutti::real
