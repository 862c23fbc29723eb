#pragma once

#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds the measured times of the collectives in the log of an AICB run to `run`, as one rank.
/// measurements_of_run() writes these times as a log of nccl-tests. AICB waits for the GPU before
/// and after each collective, so the times contain no computation, but do contain the wait for late
/// ranks. The collectives before the end of the first iteration initialise the training and are
/// left out. If the log is a workload, which has no times, nothing is added. ERRORS: as for
/// read_aicb().
Expected<void> import_aicb_times(ByteInput& input, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
