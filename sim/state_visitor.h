#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "sim/event_order.h"
#include "sim/trail.h"

namespace tutti::sim {

/// Goes through all that a simulation has under way, part by part in an order of its own, to look at it or to move it to
/// another time. Parts are told by what they do to what happens next.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  /// As it is seen from here.
  [[nodiscard]] virtual core::Time now() const = 0;
  /// Decides.
  virtual void same(std::int64_t value) = 0;
  /// Decides, but for how long ago it was if it is over.
  virtual void seen(core::Time time) = 0;
  /// The same, of a time that nothing but this holds.
  virtual void until(core::Time& time) = 0;
  /// Decides, to the picosecond, as seen from now. kNever is always the same.
  virtual void moment(core::Time& time) = 0;
  /// Goes on counting, and decides nothing but which of alike steps come next.
  virtual void counted(std::int64_t& count) = 0;
  void counted(core::Time& time) {
    std::int64_t count = time.count();
    counted(count);
    time = core::Time(count);
  }
  /// The same of a number of so many bits, which wraps round.
  virtual void numbered(std::uint64_t& number, int bits) = 0;
  /// Part of an account of what happened: decides nothing, and grows no more once it is as it was a round before.
  virtual void told(std::int64_t value) = 0;
  /// There is something that can neither be looked at nor moved.
  virtual void unfit() = 0;

 protected:
  StateVisitor() = default;
  StateVisitor(const StateVisitor&) = default;
  StateVisitor& operator=(const StateVisitor&) = default;
};

/// An event's or a message's place among those of its time (event_order.h).
inline void visit_order(std::uint64_t& order, StateVisitor& visitor) {
  const std::uint64_t lane = lane_of_order(order);
  std::uint64_t sent = order & ((1U << kSentBits) - 1);
  visitor.same(static_cast<std::int64_t>(lane));
  visitor.numbered(sent, kSentBits);
  order = lane << kSentBits | sent;
}

inline void visit_trail(Trail& trail, StateVisitor& visitor) {
  core::Breakdown& parts = trail.parts;
  for (core::Time* const time : {&parts.launch, &parts.latency, &parts.queue, &parts.reduce, &parts.copy})
    visitor.counted(*time);
  for (core::Time& time : parts.wire) visitor.counted(time);
  visitor.told(trail.origin);
  visitor.told(trail.slowest);
  visitor.told(trail.slowest_time.count());
  visitor.told(trail.queued_at);
  visitor.told(trail.queued_time.count());
}

}  // namespace tutti::sim
