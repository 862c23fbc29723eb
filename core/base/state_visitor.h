#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// Visits all state that determines the future of a simulation, part by part in a fixed order. A
/// visitor compares the state with an earlier state, or shifts it in time. Two states are equal if
/// the same events follow from them. A component whose state cannot be visited calls unfit(), and
/// the visitor then discards the state.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  /// The time of the visit.
  [[nodiscard]] virtual Time now() const = 0;
  /// Visits a value that must be equal in equal states.
  virtual void same(std::int64_t value) = 0;
  /// Visits a time that must be equal relative to now(). All times in the past count as equal.
  virtual void seen(Time time) = 0;
  /// Does the same as seen(), and lets the visitor shift the time in the variable that stores it.
  virtual void until(Time& time) = 0;
  /// Visits a time that must be equal relative to now() to the picosecond, even if it is in the
  /// past. kNever equals only itself.
  virtual void moment(Time& time) = 0;
  /// Visits a counter that only grows. A counter may have different values in equal states, but
  /// must grow by the same amount in every round.
  virtual void counted(std::int64_t& count) = 0;
  void counted(Time& time) {
    std::int64_t count = time.count();
    counted(count);
    time = Time(count);
  }
  /// Does the same as counted(), for a counter of `bits` bits that wraps around.
  virtual void numbered(std::uint64_t& number, int bits) = 0;
  /// Visits a value that is recorded but does not affect the simulation. The value is constant once
  /// the simulation repeats in rounds.
  virtual void recorded(std::int64_t value) = 0;
  /// Reports that the current state can neither be compared nor shifted.
  virtual void unfit() = 0;

 protected:
  StateVisitor() = default;
  StateVisitor(const StateVisitor&) = default;
  StateVisitor& operator=(const StateVisitor&) = default;
};

}  // namespace tutti::core
