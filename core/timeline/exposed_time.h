#pragma once

#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Measures how long one replica had packs in flight in a training step, and how much of that time
/// it computed nothing (exposed communication). The latter never exceeds the former, for any input.
class ExposedTime {
 public:
  /// Resets all times for a new step.
  void begin_step();
  /// Records that the compute stream was busy. Calls come in order of time.
  void computed(Time start, Time end) { add(computed_, start, end); }
  /// Records that at least one pack was in flight. Calls come in order of time.
  void in_flight(Time start, Time end) { add(in_flight_, start, end); }

  [[nodiscard]] Time communication() const;
  [[nodiscard]] Time exposed() const;

 private:
  struct Stretch {
    Time start, end;
  };
  static void add(std::vector<Stretch>& stretches, Time start, Time end);

  // Disjoint, in order of time. Adjacent intervals are merged, so there are few.
  std::vector<Stretch> computed_;
  std::vector<Stretch> in_flight_;
};

}  // namespace tutti::core
