#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_order.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

/// Checks, while one worker represents all, that simultaneous events have the same order on all
/// workers.
///
/// Such events are ordered by their keys: by the index, within its worker, of the rank that they
/// come from, and if those are equal by worker. Among two events with equal indexes from workers at
/// different distances, one comes first on most workers, and the other where the worker numbers
/// wrap around. That matters if both want the same thing (a resource of the network, a device) at
/// the same time; then one worker cannot represent all.
class Ties {
 public:
  enum class Thing { kResource, kDevice, kOpening };

  /// The current event has this key (Event::order), and comes from this worker unless comes_from()
  /// is called.
  void begin(std::uint64_t order) { now_ = {lane_of_order(order), 0}; }
  /// The current event comes from a worker at this distance (core::Peer::away).
  void comes_from(std::int32_t away) { now_.away = away; }
  /// The current event wants this network resource or device, or opens a collective, at `now`.
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
  /// Only the things wanted at the current time can still be part of a tie.
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
  /// True if there was a tie whose outcome depends on the worker.
  [[nodiscard]] bool matter() const { return matter_; }

 private:
  struct Comer {
    std::uint64_t place = 0;  ///< identifies the collective, and the rank's lane in its worker
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
