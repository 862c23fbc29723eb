#pragma once

#include "core/base/units.h"

namespace tutti::core {

struct Pair;
struct PartsComparison;
struct StepParts;
struct StepRecord;

// The rest of a step after computation and exposed communication: the replica whose parts are
// recorded had nothing to compute and no pack in flight, since others were behind. (In a real run
// its thread waited for a core.)

/// True for a time above 0; for a pair (compare.h), if either is.
inline bool is_any(Time time) { return time > Time(); }

Time waiting(const StepRecord& step);
Time waiting(const StepParts& step);
Pair waiting(const PartsComparison& steps);

}  // namespace tutti::core
