#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_order.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

/// Watches, where one worker stands for all, whether the order of what happens at the same time is the same in all of them.
///
/// Such events are ordered by their keys: by the place in its worker of the rank that they come from, and where those are the
/// same by worker. Of two from the same place of workers at different distances the one comes first in most workers,
/// and the other where the numbers begin anew. That matters if both want the same thing (a resource of the network, a
/// device) at the same time; then one worker cannot stand for all.
class Ties {
 public:
  enum class Thing { kResource, kDevice, kOpening };

  /// What happens now has this key (Event::order), and comes from this worker unless comes_from() says otherwise.
  void begin(std::uint64_t order) { now_ = {lane_of_order(order), 0}; }
  /// A worker so far away (core::Peer::away).
  void comes_from(std::int32_t away) { now_.away = away; }
  /// It wants this one of the network's resources or of the devices, or opens a collective, at `now`. REQUIRES: no earlier
  /// than whoever wanted it before.
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
  /// Only what is wanted now can be wanted by somebody else at the same time.
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
  /// There was a tie whose outcome depends on the worker.
  [[nodiscard]] bool matter() const { return matter_; }

 private:
  struct Comer {
    std::uint64_t place = 0;  ///< the collective, and the lane of the rank in its worker
    std::int32_t away = 0;
  };
  struct Wanted {
    core::Time at{-1};
    std::vector<Comer> by;
  };
  std::array<std::vector<Wanted>, 3> wanted_;  ///< by thing
  Comer now_;
  bool matter_ = false;
};

}  // namespace tutti::sim
