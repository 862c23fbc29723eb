#pragma once

#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Measures two times of one replica in a training step: the time during which packs are in flight,
/// and the part of this time in which the replica does not compute (exposed communication). The
/// exposed time is never longer than the time during which packs are in flight, even if the
/// recorded intervals are inconsistent.
class ExposedTime {
 public:
  /// Resets all times, for a new step.
  void begin_step();
  /// Records an interval in which the compute stream was busy. Calls must be in order of time.
  void computed(Time start, Time end) { add(computed_, start, end); }
  /// Records an interval in which at least one pack was in flight. Calls must be in order of time.
  void in_flight(Time start, Time end) { add(in_flight_, start, end); }

  [[nodiscard]] Time communication() const;
  [[nodiscard]] Time exposed() const;

 private:
  struct Stretch {
    Time start, end;
  };
  static void add(std::vector<Stretch>& stretches, Time start, Time end);

  // The intervals of each list are disjoint and in order of time. Adjacent intervals are merged, so
  // the lists are short.
  std::vector<Stretch> computed_;
  std::vector<Stretch> in_flight_;
};

}  // namespace tutti::core
