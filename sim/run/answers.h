#pragma once

#include <vector>

#include "core/lowering/plan.h"
#include "sim/run/flights.h"

namespace tutti::sim {

/// The pulls of pushes (BytePS): a server, or a CPU that is a helper in both, begins with the pull
/// of a pack when it has completed its part of the push, not when the push is complete on all
/// ranks.
class Answers {
 public:
  /// REQUIRES: the plan and the flights outlive it.
  Answers(const core::Plan& plan, Flights& flights)
      : plan_(plan), flights_(flights), pull_of_(core::answers_to(plan)) {}

  /// True if the flight's pack is a push with a pull: Flight::through is kept.
  [[nodiscard]] bool is_answered(const Work& work) const {
    return work.pack >= 0 && pull_of(work) >= 0;
  }
  /// True if the flight's pack is a pull and the rank has not completed its part of the push: it
  /// starts later.
  [[nodiscard]] bool starts_later(const Flight& flight, core::Rank rank) const {
    if (flight.work.pack < 0) return false;
    const std::int32_t push = plan_.packs[static_cast<std::size_t>(flight.work.pack)].answers;
    if (push < 0) return false;
    const Flight* const answered = flights_.find(flight.step, push, flight.work.place.group);
    return answered && !answered->through[static_cast<std::size_t>(rank)];
  }
  /// Returns the flight of the pull of push `answered`; null if it is not in flight yet.
  [[nodiscard]] Flight* answer_to(const Flight& answered) const {
    return flights_.find(answered.step, pull_of(answered.work), answered.work.place.group);
  }

 private:
  [[nodiscard]] int pull_of(const Work& work) const {
    return pull_of_[static_cast<std::size_t>(work.pack)];
  }

  const core::Plan& plan_;
  Flights& flights_;
  std::vector<int> pull_of_;  ///< by pack: the pull of this push; -1: none
};

}  // namespace tutti::sim
