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

/// Workers record the steps of their lanes; the schedule knows the sender of each received message.
/// This class joins the two, for the tracks of one training step at a time.
class LanePeers {
 public:
  /// REQUIRES: the scenario outlives it.
  explicit LanePeers(const core::Scenario& scenario);

  void begin_step() { tracks_.clear(); }
  /// Registers the track that holds the spans of `pack` on that lane of the device in this step.
  void add(std::int32_t worker, const std::string& device, core::Lane lane, std::int32_t pack,
           core::TrackId track);
  /// Sets the sender of a lane's span, if it received a message and the sender is on a track.
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
  std::map<std::tuple<std::int32_t, Device, core::Lane>, core::TrackId> tracks_;  ///< by pack
};

}  // namespace tutti::real
