#include "core/timeline/step_parts.h"

#include <algorithm>

namespace tutti::core {

Time computation_after(Time start, const ReplicaParts& replica) {
  const Time all = replica.forward + replica.backward + replica.other_compute;
  const Time ahead = std::max(Time(), start - replica.start);
  return std::max(Time(), all - ahead);
}

StepRecord step_record(std::int32_t step, Time start, Time end, const ReplicaParts& longest) {
  Time ahead = std::max(Time(), start - longest.start);
  const auto inside = [&ahead](Time part) {
    const Time cut = std::min(ahead, part);
    ahead -= cut;
    return part - cut;
  };
  StepRecord record;
  record.step = step;
  record.start = start;
  record.end = end;
  record.slowest = longest.device;
  record.forward = inside(longest.forward);
  record.backward = inside(longest.backward);
  record.other_compute = inside(longest.other_compute);
  record.communication = std::min(longest.communication, end - start);
  // The clocks of the machines differ slightly, so the computation may seem to take longer than the
  // step.
  const Time left = end - start - record.forward - record.backward - record.other_compute;
  record.exposed = std::max(Time(), std::min({longest.exposed, record.communication, left}));
  record.slowed = std::min(longest.slowed, record.forward + record.backward + record.other_compute);
  return record;
}

}  // namespace tutti::core
