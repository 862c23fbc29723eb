#include "core/timeline/exposed_time.h"

#include <algorithm>

namespace tutti::core {

void ExposedTime::begin_step() {
  computed_.clear();
  in_flight_.clear();
}

void ExposedTime::add(std::vector<Stretch>& stretches, Time start, Time end) {
  // With real clocks, an interval may seem to begin before the end of the previous interval.
  if (!stretches.empty()) start = std::max(start, stretches.back().end);
  if (end <= start) return;
  if (!stretches.empty() && stretches.back().end == start) {
    stretches.back().end = end;
  } else {
    stretches.push_back({start, end});
  }
}

Time ExposedTime::communication() const {
  Time sum;
  for (const Stretch& flight : in_flight_) sum += flight.end - flight.start;
  return sum;
}

Time ExposedTime::exposed() const {
  Time sum = communication();
  auto busy = computed_.begin();
  for (const Stretch& flight : in_flight_) {
    while (busy != computed_.end() && busy->end <= flight.start) ++busy;
    // The inner loop advances its own iterator, because the last computation that overlaps this
    // flight may also overlap the next flight.
    for (auto b = busy; b != computed_.end() && b->start < flight.end; ++b)
      sum -= std::min(b->end, flight.end) - std::max(b->start, flight.start);
  }
  return sum;
}

}  // namespace tutti::core
