#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace tutti::core {

/// Visits all state of a simulation that decides what happens next, part by part in an order of its own, to compare it with what it
/// was, or to move it to another time. State is told apart by what it does to what happens next. A part that cannot be
/// visited says unfit(): then nothing is remembered.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  /// The time of the visit.
  [[nodiscard]] virtual Time now() const = 0;
  /// Decides.
  virtual void same(std::int64_t value) = 0;
  /// Decides, but for how long ago it was if it is over.
  virtual void seen(Time time) = 0;
  /// The same, of a time that nothing but this holds.
  virtual void until(Time& time) = 0;
  /// Decides, to the picosecond, as seen from now. kNever is always the same.
  virtual void moment(Time& time) = 0;
  /// Goes on counting, and decides nothing but which of alike steps come next.
  virtual void counted(std::int64_t& count) = 0;
  void counted(Time& time) {
    std::int64_t count = time.count();
    counted(count);
    time = Time(count);
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

}  // namespace tutti::core
