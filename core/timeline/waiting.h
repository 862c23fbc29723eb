#pragma once

#include "core/base/units.h"

namespace tutti::core {

struct Pair;
struct PartsComparison;
struct StepParts;
struct StepRecord;

// waiting() returns the time of a training step that is neither computation nor exposed
// communication. During this time, the recorded replica had nothing to compute and no pack in
// flight, because other replicas were late. (In a real run, the replica's thread may also have
// waited for a CPU core.)

/// True if the time is above 0. The overload for a Pair (compare.h) returns true if at least one of
/// its times is above 0.
inline bool is_any(Time time) { return time > Time(); }

Time waiting(const StepRecord& step);
Time waiting(const StepParts& step);
Pair waiting(const PartsComparison& steps);

}  // namespace tutti::core
