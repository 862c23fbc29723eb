#pragma once

#include <string>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Returns the times of collectives as a log in the format of nccl-tests, which `tutti calibrate`,
/// `perf` and `validate` read: a table for each kind and number of ranks, a row for each size and
/// type. The time of a collective is its minimum over the ranks of the trace, because all other
/// ranks include waiting for late ones. A row has the median over all occurrences; a comment above
/// the row states the number of occurrences. ERRORS: no collective has both a size and a duration
/// (kMissing).
Expected<std::string> measurements_of_run(const MeasuredRun& run);

}  // namespace tutti::core
