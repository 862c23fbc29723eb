#pragma once

#include <string>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// What collectives took, as a log in the form of nccl-tests, which `tutti calibrate`, `perf` and
/// `validate` read: a table for each kind and number of ranks, a row for each size and type. A
/// collective's time is the least over the ranks of the trace, as all others include waiting for
/// late ranks; a row has the median over all times that it happened, and how often is a remark
/// above it. ERRORS: no collective has both a size and a duration (kMissing).
Expected<std::string> measurements_of_run(const MeasuredRun& run);

}  // namespace tutti::core
