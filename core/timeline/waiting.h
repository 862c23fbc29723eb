#pragma once

#include "core/base/units.h"

namespace tutti::core {

struct Pair;
struct PartsComparison;
struct StepParts;
struct StepRecord;

// What is left of a step when its computation and its exposed communication are taken off: the replica that the step's parts are
// of had nothing to compute and no pack in flight, since others were behind. (Its thread waited for a core, in a real run.)

/// True for a time above 0; for a pair in compare.h, if one of both is.
inline bool is_any(Time time) { return time > Time(); }

Time waiting(const StepRecord& step);
Time waiting(const StepParts& step);
Pair waiting(const PartsComparison& steps);

}  // namespace tutti::core
