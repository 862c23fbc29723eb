#pragma once

#include <vector>

#include "core/lowering/plan.h"
#include "sim/run/flights.h"

namespace tutti::sim {

/// The order of pushes and pulls in BytePS. A helper (a server or a worker's CPU) begins the pull
/// of a pack as soon as it has completed its own part of the push, even if other ranks have not
/// completed theirs.
class PullOrder {
 public:
  /// REQUIRES: the plan and the flights outlive this object.
  PullOrder(const core::Plan& plan, Flights& flights)
      : plan_(plan), flights_(flights), pull_of_(core::pulls_of(plan)) {}

  /// Returns true if the pack of `work` is a push that is followed by a pull.
  /// Flight::rank_completed is used only for such packs.
  [[nodiscard]] bool has_pull(const Work& work) const {
    return work.pack >= 0 && pull_of(work) >= 0;
  }
  /// Returns true if the rank must not start yet, because the flight is a pull and the rank has not
  /// completed its part of the push.
  [[nodiscard]] bool starts_later(const Flight& flight, core::Rank rank) const {
    if (flight.work.pack < 0) return false;
    const std::int32_t push = plan_.packs[flight.work.pack].answers;
    if (push < 0) return false;
    const Flight* const answered = flights_.find(flight.step, push, flight.work.place.group);
    return answered && !answered->rank_completed[rank];
  }
  /// Returns the flight of the pull that follows the push `answered`; null if the pull is not in
  /// flight.
  [[nodiscard]] Flight* pull_flight_of(const Flight& answered) const {
    return flights_.find(answered.step, pull_of(answered.work), answered.work.place.group);
  }

 private:
  [[nodiscard]] int pull_of(const Work& work) const { return pull_of_[work.pack]; }

  const core::Plan& plan_;
  Flights& flights_;
  std::vector<int> pull_of_;  ///< for each pack that is a push, the number of its pull; otherwise
                              ///< -1
};

}  // namespace tutti::sim
