#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gui/traffic/pack_replay.h"
#include "gui/traffic/topology.h"

namespace tutti::gui {

/// A pack of a training step.
struct PackOfStep {
  std::int32_t step = 0;
  std::int32_t pack = 0;
  bool operator==(const PackOfStep&) const = default;
};

/// The state of a topology at a time of the run.
struct TopologyMoment {
  core::Time at;
  std::vector<double> loads;  ///< for each link of the topology, the load from 0 to 1; empty if the
                              ///< links are unknown
  struct Flight {
    Transfer transfer;
    /// The links on the message's route. If the route is empty, the message is drawn on a straight
    /// line between the two nodes.
    std::vector<std::size_t> route;
    std::size_t from = 0, to = 0;  ///< nodes at the ends
    double progress = 0;   ///< the share of the path that the message has travelled, from 0 to 1
    bool waits = false;    ///< true: the message waits for a link or for its receiver
    bool of_pack = false;  ///< true: the message belongs to the selected pack
    /// The chunks of the selected pack that the message carries, such as "3" or "3-5". Empty for
    /// messages of other packs, and for messages that do not carry elements of the pack's own
    /// buffer.
    std::string chunk;
  };
  std::vector<Flight> flights;
  std::vector<PackOfStep> in_flight;  ///< the packs in flight, sorted by start
  std::optional<PackOfStep> pack;     ///< the selected pack
  /// For each node, the content of the device's copy of the selected pack; empty if the content is
  /// unknown, or if the device does not take part.
  std::vector<std::vector<PackReplay::Piece>> held;
  std::int32_t contributors = 0;  ///< the number of contributions in a complete element
  std::int64_t elements = 0;
  std::string words;  ///< why the devices' contents are unknown; empty: they are known
};

/// Computes the state of a topology at successive times. Cost of a frame: linear in the number of
/// messages in flight, and in the number of schedule steps of the selected pack since the previous
/// frame.
class TopologyPlayer {
 public:
  /// `plan` may be null. REQUIRES: `topology` outlives this object.
  TopologyPlayer(std::shared_ptr<const Trace> trace, std::shared_ptr<const core::Scenario> plan,
                 std::shared_ptr<const Traffic> traffic, const Topology& topology);

  /// Returns the state at `t`. `wanted`: the pack to select. If `wanted` is nullopt or not in
  /// flight, the pack in flight that started first is selected instead.
  TopologyMoment at(core::Time t, std::optional<PackOfStep> wanted = std::nullopt);

  /// Returns the replay of the selected pack; null if it cannot be replayed.
  [[nodiscard]] const PackReplay* replay() const { return replay_; }

  /// Returns a text that describes the content of a device, such as "4 of 16 chunks complete, …";
  /// empty if the content is unknown.
  [[nodiscard]] std::string words_of(const TopologyMoment& moment, std::size_t node) const;

 private:
  [[nodiscard]] std::vector<PackOfStep> in_flight(core::Time t) const;
  PackReplay* replay_of(const PackOfStep& pack, std::string& words);
  const std::vector<std::size_t>& route(const Transfer& transfer);

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const core::Scenario> plan_;
  std::shared_ptr<const Traffic> traffic_;
  const Topology& topology_;
  std::vector<core::PackRecord> packs_;  ///< sorted by start
  /// For each pack of packs_: the latest end among this pack and all packs before it in packs_.
  std::vector<core::Time> last_end_;
  std::deque<std::unique_ptr<PackReplay>> replays_;  ///< the most recently used replays
  PackReplay* replay_ = nullptr;
  std::map<std::tuple<std::int32_t, std::int32_t, core::Staging>, std::vector<std::size_t>> routes_;
};

/// Returns the time that the topology shows at first: the middle of the time in flight of one pack,
/// namely the pack of the last training step that was in flight longest; 0 if there is no pack.
core::Time initial_time(const Trace& trace);

}  // namespace tutti::gui
