#include "core/timeline/waiting.h"

#include <algorithm>

#include "core/timeline/compare.h"
#include "core/timeline/summary.h"

namespace tutti::core {
namespace {

/// Returns the step time minus all parts. Negative results, which differences between clocks or
/// rounding may cause, are replaced by 0.
Time rest(Time step, Time forward, Time backward, Time other_compute, Time exposed) {
  return std::max(Time(), step - forward - backward - other_compute - exposed);
}

}  // namespace

Time waiting(const StepRecord& step) {
  return rest(step.end - step.start, step.forward, step.backward, step.other_compute, step.exposed);
}

Time waiting(const StepParts& step) {
  return rest(step.time, step.forward, step.backward, step.other_compute, step.exposed);
}

Pair waiting(const PartsComparison& s) {
  return {rest(s.time.a, s.forward.a, s.backward.a, s.other_compute.a, s.exposed.a),
          rest(s.time.b, s.forward.b, s.backward.b, s.other_compute.b, s.exposed.b)};
}

}  // namespace tutti::core
