#pragma once

#include <string>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Returns the times of the run's collectives as a log in the format of nccl-tests, which `tutti
/// calibrate`, `tutti perf` and `tutti validate` read. The log has a table for each kind of
/// collective and number of ranks, and a row for each size and type.
///
/// The time of a collective is the minimum over the ranks of the trace, because the times of other
/// ranks include waiting for late ranks. A row contains the median over all executions of a
/// collective; a comment above the row states the number of executions.
/// ERRORS: no collective has both a size and a duration (kMissing).
Expected<std::string> measurements_of_run(const MeasuredRun& run);

}  // namespace tutti::core
