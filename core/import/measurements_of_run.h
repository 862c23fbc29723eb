#pragma once

#include <string>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Converts the times of the run's collectives to a log in the format of nccl-tests. `tutti
/// calibrate`, `tutti perf` and `tutti validate` read such logs. The log has a table for each
/// combination of a kind of collective and a number of ranks, except for gathers, scatters, sends
/// and receives. A table has a row for each size and type.
///
/// The time of a collective is the minimum over all ranks, because a longer time includes waiting
/// for a late rank. A row contains the median over all executions of a collective; a comment above
/// the row states how many executions there were.
/// ERRORS: no collective has a size, a duration and a known number of ranks (kMissing).
Expected<std::string> measurements_of_run(const MeasuredRun& run);

}  // namespace tutti::core
