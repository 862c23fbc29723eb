#pragma once

#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Adds up for how long one replica had packs in flight in a training step, and for how long of
/// that it computed nothing. The latter is part of the former, whatever it is told.
class ExposedTime {
 public:
  /// Forgets the step before.
  void begin_step();
  /// The compute stream was busy. Calls come in order of time.
  void computed(Time start, Time end) { add(computed_, start, end); }
  /// At least one pack was in flight. Calls come in order of time.
  void in_flight(Time start, Time end) { add(in_flight_, start, end); }

  [[nodiscard]] Time communication() const;
  [[nodiscard]] Time exposed() const;

 private:
  struct Stretch {
    Time start, end;
  };
  static void add(std::vector<Stretch>& stretches, Time start, Time end);

  // Disjoint, in order of time. What follows without a gap is one stretch, so there are few.
  std::vector<Stretch> computed_;
  std::vector<Stretch> in_flight_;
};

}  // namespace tutti::core
