#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// Visits all state of a simulation that determines its future, part by part in a fixed order, to
/// compare the state with an earlier one or to shift it in time. Two states are equal if the same
/// events follow from them. A component whose state cannot be visited calls unfit(), and the state
/// is then not used.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  /// The time of the visit.
  [[nodiscard]] virtual Time now() const = 0;
  /// Visits a value that must be equal in equal states.
  virtual void same(std::int64_t value) = 0;
  /// Visits a time that must be equal relative to now(). All times in the past count as equal.
  virtual void seen(Time time) = 0;
  /// Like seen(), for the variable that stores the time: the visitor may shift it.
  virtual void until(Time& time) = 0;
  /// Visits a time that must be equal relative to now() to the picosecond, even if it is in the
  /// past. kNever equals only itself.
  virtual void moment(Time& time) = 0;
  /// Visits a counter that keeps growing. A counter may differ in equal states, but must grow by
  /// the same amount in every round.
  virtual void counted(std::int64_t& count) = 0;
  void counted(Time& time) {
    std::int64_t count = time.count();
    counted(count);
    time = Time(count);
  }
  /// Like counted(), for a number of `bits` bits that wraps around.
  virtual void numbered(std::uint64_t& number, int bits) = 0;
  /// Visits a recorded value, which does not affect the simulation, and stays the same once rounds
  /// repeat.
  virtual void told(std::int64_t value) = 0;
  /// Reports that the current state can neither be compared nor shifted.
  virtual void unfit() = 0;

 protected:
  StateVisitor() = default;
  StateVisitor(const StateVisitor&) = default;
  StateVisitor& operator=(const StateVisitor&) = default;
};

}  // namespace tutti::core
