#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_order.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

/// Detects simultaneous events that other workers would handle in another order. If such events
/// exist, one worker cannot represent all workers.
///
/// Simultaneous events are ordered by the rank that caused them: first by the rank's index within
/// its worker, then by worker. Suppose that two events were caused by ranks with the same index, on
/// workers at different distances from the simulated worker. Most workers handle the two events in
/// the same order, but workers for which the worker numbers wrap around handle the events in
/// reverse order. The order affects the result if both events request the same network resource,
/// device or communicator of NCCL, or open the same collective.
class Ties {
 public:
  enum class Thing { kResource, kDevice, kOpening, kCommunicator };

  /// Must be called before an event is handled. `order` is the key of the event (Event::order). If
  /// another worker caused the event, comes_from() must be called, too.
  void begin(std::uint64_t order) { now_ = {lane_of_order(order), 0}; }
  /// Records that a worker at the distance `away` (core::Peer::away) caused the current event.
  void comes_from(std::int32_t away) { now_.away = away; }
  /// Records that the current event requests this network resource or device, or opens a
  /// collective, at `now`.
  /// REQUIRES: `now` is not earlier than in the previous call for the same resource, device or
  /// collective.
  void wants(Thing thing, std::int64_t which, core::Time now) {
    std::vector<Wanted>& all = wanted_[static_cast<std::size_t>(thing)];
    const auto index = static_cast<std::size_t>(which);
    if (index >= all.size()) all.resize(index + 1);
    Wanted& wanted = all[index];
    if (wanted.at != now) {
      wanted.at = now;
      wanted.by.clear();
    }
    const bool rivals =
        std::any_of(wanted.by.begin(), wanted.by.end(), [this](const Arrival& other) {
          return other.place == now_.place && other.away != now_.away;
        });
    if (rivals) matter_ = true;
    wanted.by.push_back(now_);
  }
  /// Visits the requests that were made at the current time. Earlier requests cannot be part of a
  /// tie.
  void visit_state(StateVisitor& visitor) {
    for (std::vector<Wanted>& all : wanted_) {
      for (Wanted& wanted : all) {
        visitor.seen(wanted.at);
        if (wanted.at >= visitor.now()) {
          for (const Arrival& arrival : wanted.by) {
            visitor.same(static_cast<std::int64_t>(arrival.place));
            visitor.same(arrival.away);
          }
        }
        visitor.until(wanted.at);
      }
    }
  }
  /// Returns true if there was a tie whose order differs between workers.
  [[nodiscard]] bool matter() const { return matter_; }

 private:
  struct Arrival {
    /// The order key of the event, without the number of the message. This part of the key
    /// identifies the collective and the lane.
    std::uint64_t place = 0;
    std::int32_t away = 0;
  };
  struct Wanted {
    core::Time at{-1};
    std::vector<Arrival> by;
  };
  std::array<std::vector<Wanted>, 4> wanted_;  ///< indexed by Thing
  Arrival now_;
  bool matter_ = false;
};

}  // namespace tutti::sim
