#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gui/model/pack_replay.h"
#include "gui/model/topology.h"

namespace tutti::gui {

/// A pack of a training step.
struct PackOfStep {
  std::int32_t step = 0;
  std::int32_t pack = 0;
  bool operator==(const PackOfStep&) const = default;
};

/// What a topology shows at a moment of the run.
struct TopologyMoment {
  core::Time at;
  std::vector<double> loads;  ///< by link of the topology; empty if links are not known
  struct Flight {
    const Transfer* transfer = nullptr;
    std::vector<std::size_t> route;  ///< links; empty: it goes straight from node to node
    std::size_t from = 0, to = 0;    ///< nodes
    double progress = 0;             ///< 0 … 1 of its way
    bool waits = false;              ///< for a link, or for somebody to take it
    bool of_pack = false;            ///< of the pack that is looked at
    std::string chunk;               ///< "3", "3-5"; empty if it is not of that pack, or not for its own buffer
  };
  std::vector<Flight> flights;
  std::vector<PackOfStep> under_way;  ///< packs that are, the one that started first in front
  std::optional<PackOfStep> pack;     ///< the one that is looked at
  /// What the node's device holds of it; empty if that is not known, or it takes no part.
  std::vector<std::vector<PackReplay::Piece>> held;
  std::int32_t contributors = 0;  ///< so many contributions make the pack complete
  std::int64_t elements = 0;
  std::string words;  ///< why it is not known; may be empty
};

/// Works out what a topology shows, moment by moment. Cost of a frame: the messages in flight, and the steps of the pack that
/// is looked at since the moment before.
class TopologyPlayer {
 public:
  /// `plan` may be null. REQUIRES: `topology` outlives it.
  TopologyPlayer(std::shared_ptr<const Trace> trace, std::shared_ptr<const core::Scenario> plan,
                 std::shared_ptr<const Traffic> traffic, const Topology& topology);

  /// `wanted`: the pack to look at, if it is under way; else the one that started first.
  TopologyMoment at(core::Time t, std::optional<PackOfStep> wanted = std::nullopt);

  /// The pack of a moment, for questions about it; null if it cannot be followed.
  [[nodiscard]] const PackReplay* replay() const { return replay_; }

  /// What a device holds, in words: "4 of 16 chunks complete, …". Empty if nothing is known.
  [[nodiscard]] std::string words_of(const TopologyMoment& moment, std::size_t node) const;

 private:
  [[nodiscard]] std::vector<PackOfStep> under_way(core::Time t) const;
  PackReplay* replay_of(const PackOfStep& pack, std::string& words);
  const std::vector<std::size_t>& route(const Transfer& transfer);

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const core::Scenario> plan_;
  std::shared_ptr<const Traffic> traffic_;
  const Topology& topology_;
  std::vector<core::PackRecord> packs_;              ///< in the order in which they started
  std::vector<core::Time> last_end_;                 ///< of this one and those before it
  std::deque<std::unique_ptr<PackReplay>> replays_;  ///< the last few that were looked at
  PackReplay* replay_ = nullptr;
  std::map<std::tuple<std::int32_t, std::int32_t, core::Staging>, std::vector<std::size_t>> routes_;
};

/// A moment at which there is something to see: in the middle of the last step's longest flight of a pack; 0 if there is none.
core::Time moment_to_begin_with(const Trace& trace);

}  // namespace tutti::gui
