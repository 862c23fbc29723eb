#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/scenario/scenario.h"
#include "sim/collectives/plan_collectives.h"
#include "sim/engine/event_queue.h"
#include "sim/run/deadlines.h"
#include "sim/run/flights.h"
#include "sim/run/recorder.h"

namespace tutti::sim {

/// Checks the timeouts of TensorFlow's collectives (deadlines.h), and reports the first collective
/// that exceeds its timeout. Does nothing if the strategy has no timeout.
class Timeouts {
 public:
  /// REQUIRES: all arguments outlive this object.
  Timeouts(const core::Scenario& scenario, const PlanCollectives& collectives, Flights& flights,
           EventQueue& events, Recorder& recorder, core::TimelineSink& sink)
      : scenario_(scenario),
        collectives_(collectives),
        flights_(flights),
        events_(events),
        recorder_(recorder),
        sink_(sink),
        deadlines_(scenario.strategy.timeout, scenario.cluster->replicas()) {}

  /// Records that a replica starts its part of the flight, a collective in flight (flights.h).
  /// `rank` is the rank of the replica.
  void launched(Flight& flight, std::int64_t replica, core::Rank rank, core::Time now);
  /// Records that the rank has completed its part of the flight.
  void rank_done(Flight& flight, core::Rank rank) const {
    if (static_cast<std::size_t>(rank) < flight.done.size()) flight.done[rank] = true;
  }
  /// Handles kTimer.
  void fires(const Event& event);
  /// Returns the error that ends the run; nullopt if no timeout was exceeded.
  [[nodiscard]] const std::optional<core::Error>& exceeded() const { return exceeded_; }

 private:
  void arm(const Flight& flight, core::Rank rank, core::Time now);
  [[nodiscard]] core::Error deadline_exceeded(const Flight& flight, const Deadlines::Timer& timer,
                                              core::Time now) const;
  [[nodiscard]] std::vector<std::int32_t> not_come(const Flight& flight) const;

  const core::Scenario& scenario_;
  /// Returns the group of replicas that executes the flight's collective. For fused packs, this is
  /// the group of the first pack.
  [[nodiscard]] core::Group group_of(const Flight& flight) const {
    return (flight.in_group ? *flight.in_group : collectives_.planned(flight.work).first).group;
  }

  const PlanCollectives& collectives_;
  Flights& flights_;
  EventQueue& events_;
  Recorder& recorder_;
  core::TimelineSink& sink_;
  Deadlines deadlines_;
  std::optional<core::Error> exceeded_;
};

}  // namespace tutti::sim
