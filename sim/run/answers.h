#pragma once

#include <vector>

#include "core/lowering/plan.h"
#include "sim/run/flights.h"

namespace tutti::sim {

/// Pulls that answer pushes (BytePS): a server, or a CPU that is a helper in both, begins with the
/// pull of a pack when it has completed its part of the push, not when the push is complete on all
/// ranks.
class Answers {
 public:
  /// REQUIRES: all it is given outlives it.
  Answers(const core::Plan& plan, Flights& flights)
      : plan_(plan), flights_(flights), pull_of_(core::answers_to(plan)) {}

  /// True if another pack answers the flight's pack: Flight::through is kept.
  [[nodiscard]] bool is_answered(const Work& work) const {
    return work.pack >= 0 && pull_of(work) >= 0;
  }
  /// True if the rank serves or forwards the result of another pack, and has not completed its part
  /// of that one: it starts later.
  [[nodiscard]] bool starts_later(const Flight& flight, core::Rank rank) const {
    if (flight.work.pack < 0) return false;
    const std::int32_t push = plan_.packs[static_cast<std::size_t>(flight.work.pack)].answers;
    if (push < 0) return false;
    const Flight* const answered = flights_.find(flight.step, push, flight.work.place.group);
    return answered && !answered->through[static_cast<std::size_t>(rank)];
  }
  /// The flight of the pack that answers `answered`; null if it is not in flight yet.
  [[nodiscard]] Flight* answer_to(const Flight& answered) const {
    return flights_.find(answered.step, pull_of(answered.work), answered.work.place.group);
  }

 private:
  [[nodiscard]] int pull_of(const Work& work) const {
    return pull_of_[static_cast<std::size_t>(work.pack)];
  }

  const core::Plan& plan_;
  Flights& flights_;
  std::vector<int> pull_of_;  ///< by pack: the pull that answers this push; -1: none
};

}  // namespace tutti::sim
