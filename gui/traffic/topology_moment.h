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

/// The state that a topology shows at a time of the run.
struct TopologyMoment {
  core::Time at;
  std::vector<double> loads;  ///< by link of the topology; empty if the links are unknown
  struct Flight {
    const Transfer* transfer = nullptr;
    std::vector<std::size_t>
        route;  ///< links of the route; empty: the message is drawn straight from node to node
    std::size_t from = 0, to = 0;  ///< nodes at the ends
    double progress = 0;           ///< covered share of the path, from 0 to 1
    bool waits = false;            ///< true: it waits for a link, or for its receiver
    bool of_pack = false;          ///< true: it belongs to the selected pack
    /// Chunks such as "3" or "3-5"; empty for other packs, and outside of the pack's own buffer.
    std::string chunk;
  };
  std::vector<Flight> flights;
  std::vector<PackOfStep> in_flight;  ///< packs in flight, sorted by start
  std::optional<PackOfStep> pack;     ///< the selected pack
  /// The content of each node's device; empty if unknown, or if it does not take part.
  std::vector<std::vector<PackReplay::Piece>> held;
  std::int32_t contributors = 0;  ///< number of contributions in a complete element
  std::int64_t elements = 0;
  std::string words;  ///< reason why the contents are unknown; may be empty
};

/// Computes what a topology shows, time by time. Cost of a frame: the messages in flight, and the
/// steps of the selected pack since the previous frame.
class TopologyPlayer {
 public:
  /// `plan` may be null. REQUIRES: `topology` outlives it.
  TopologyPlayer(std::shared_ptr<const Trace> trace, std::shared_ptr<const core::Scenario> plan,
                 std::shared_ptr<const Traffic> traffic, const Topology& topology);

  /// Returns the state at `t`. `wanted`: the pack to select, if it is in flight; otherwise the one
  /// that started first.
  TopologyMoment at(core::Time t, std::optional<PackOfStep> wanted = std::nullopt);

  /// Returns the replay of the selected pack; null if it cannot be replayed.
  [[nodiscard]] const PackReplay* replay() const { return replay_; }

  /// Describes the content of a device: "4 of 16 chunks complete, …". Empty if it is unknown.
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
  std::vector<core::Time> last_end_;     ///< latest end of this pack and all earlier ones
  std::deque<std::unique_ptr<PackReplay>> replays_;  ///< the most recently used replays
  PackReplay* replay_ = nullptr;
  std::map<std::tuple<std::int32_t, std::int32_t, core::Staging>, std::vector<std::size_t>> routes_;
};

/// Returns a time at which there is something to see: the middle of the longest pack in flight of
/// the last step; 0 if there is none.
core::Time moment_to_begin_with(const Trace& trace);

}  // namespace tutti::gui
