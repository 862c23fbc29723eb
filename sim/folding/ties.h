#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_order.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

/// Detects simultaneous events whose order would not be the same on all workers, so that one worker
/// cannot represent all.
///
/// Simultaneous events are ordered by the rank that caused them: first by the rank's index within
/// its worker, then by worker. Take two events from ranks with the same index, but on workers at
/// different distances. One of them comes first on most workers; the other comes first on workers
/// where the worker numbers wrap around. This is a tie that matters if both events request the same
/// thing (a network resource, a device, or the opening of a collective).
class Ties {
 public:
  enum class Thing { kResource, kDevice, kOpening };

  /// Begins an event with this key (Event::order). The event comes from the same worker unless
  /// comes_from() is called.
  void begin(std::uint64_t order) { now_ = {lane_of_order(order), 0}; }
  /// Records that the current event comes from a worker at this distance (core::Peer::away).
  void comes_from(std::int32_t away) { now_.away = away; }
  /// Records that the current event requests this network resource or device, or opens a
  /// collective, at `now`.
  /// REQUIRES: `now` is no earlier than in the previous call for the same thing.
  void wants(Thing thing, std::int64_t which, core::Time now) {
    std::vector<Wanted>& all = wanted_[static_cast<std::size_t>(thing)];
    const auto index = static_cast<std::size_t>(which);
    if (index >= all.size()) all.resize(index + 1);
    Wanted& wanted = all[index];
    if (wanted.at != now) {
      wanted.at = now;
      wanted.by.clear();
    }
    const bool rivals = std::any_of(wanted.by.begin(), wanted.by.end(), [this](const Comer& other) {
      return other.place == now_.place && other.away != now_.away;
    });
    if (rivals) matter_ = true;
    wanted.by.push_back(now_);
  }
  /// Visits the requests at the current time; only they can still be part of a tie.
  void visit_state(StateVisitor& visitor) {
    for (std::vector<Wanted>& all : wanted_) {
      for (Wanted& wanted : all) {
        visitor.seen(wanted.at);
        if (wanted.at >= visitor.now()) {
          for (const Comer& comer : wanted.by) {
            visitor.same(static_cast<std::int64_t>(comer.place));
            visitor.same(comer.away);
          }
        }
        visitor.until(wanted.at);
      }
    }
  }
  /// Returns true if there was a tie whose outcome depends on the worker.
  [[nodiscard]] bool matter() const { return matter_; }

 private:
  struct Comer {
    /// Identifies the collective, and the lane within its worker.
    std::uint64_t place = 0;
    std::int32_t away = 0;
  };
  struct Wanted {
    core::Time at{-1};
    std::vector<Comer> by;
  };
  std::array<std::vector<Wanted>, 3> wanted_;  ///< indexed by Thing
  Comer now_;
  bool matter_ = false;
};

}  // namespace tutti::sim
