#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// Visits, part by part in a fixed order, all state of a simulation that determines what happens
/// next: to compare it with an earlier state, or to shift it in time. Two states are equal if the
/// same events follow. A part that cannot be visited calls unfit(); then no state is remembered.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  /// The time of the visit.
  [[nodiscard]] virtual Time now() const = 0;
  /// Visits a value that must be equal.
  virtual void same(std::int64_t value) = 0;
  /// Visits a time that must be equal relative to now; of a time in the past, only that it is past
  /// counts.
  virtual void seen(Time time) = 0;
  /// Like seen(), for a time that is stored nowhere else, so that it can be shifted.
  virtual void until(Time& time) = 0;
  /// Visits a time that must be equal relative to now, to the picosecond, even in the past. kNever
  /// equals only itself.
  virtual void moment(Time& time) = 0;
  /// Visits a counter that keeps growing. It determines nothing except which of several identical
  /// steps comes next.
  virtual void counted(std::int64_t& count) = 0;
  void counted(Time& time) {
    std::int64_t count = time.count();
    counted(count);
    time = Time(count);
  }
  /// Like counted(), for a number of `bits` bits that wraps round.
  virtual void numbered(std::uint64_t& number, int bits) = 0;
  /// Visits a part of the records: it determines nothing, and stops growing once a round repeats
  /// the previous one.
  virtual void told(std::int64_t value) = 0;
  /// Reports state that can neither be compared nor shifted.
  virtual void unfit() = 0;

 protected:
  StateVisitor() = default;
  StateVisitor(const StateVisitor&) = default;
  StateVisitor& operator=(const StateVisitor&) = default;
};

}  // namespace tutti::core
