#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// A visitor of the state of a simulation. The state consists of all values that determine later
/// events. Components pass their values to the visitor in a fixed order. The visitor either
/// compares the state with an earlier state, or shifts the state in time. Two states are equal if
/// the same events follow from both. A component whose state cannot be visited calls unfit(), and
/// the visitor then discards the whole state.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  /// The virtual time at which the state is visited.
  [[nodiscard]] virtual Time now() const = 0;
  /// Visits a value. The value must be identical in equal states.
  virtual void same(std::int64_t value) = 0;
  /// Visits a time that matters only if it is in the future. Two states are equal only if `time` -
  /// now() is the same in both, or if `time` is before now() in both.
  virtual void seen(Time time) = 0;
  /// Does the same as seen(), and lets the visitor shift the time by changing `time`.
  virtual void until(Time& time) = 0;
  /// Visits a time. Two states are equal only if `time` - now() is the same in both, to the
  /// picosecond, even for a time before now(). The value kNever equals only kNever.
  virtual void moment(Time& time) = 0;
  /// Visits a counter that only grows. Two states may be equal although their counters differ. Once
  /// the simulation repeats itself in rounds, however, a counter must grow by the same amount in
  /// every round.
  virtual void counted(std::int64_t& count) = 0;
  void counted(Time& time) {
    std::int64_t count = time.count();
    counted(count);
    time = Time(count);
  }
  /// Does the same as counted(), for a counter of `bits` bits that wraps around.
  virtual void numbered(std::uint64_t& number, int bits) = 0;
  /// Visits a value that is written to the records of the run but does not affect later events.
  /// Once the simulation repeats itself in rounds, the value is the same in every round.
  virtual void recorded(std::int64_t value) = 0;
  /// Reports that the current state can neither be compared nor shifted.
  virtual void unfit() = 0;

 protected:
  StateVisitor() = default;
  StateVisitor(const StateVisitor&) = default;
  StateVisitor& operator=(const StateVisitor&) = default;
};

}  // namespace tutti::core
