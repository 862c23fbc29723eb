#pragma once

#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a dump of the NCCL Inspector to `run`. A dump contains the collectives of one process. The
/// rank of the process is its rank in its largest communicator. Only verbose dumps have start
/// times.
/// ERRORS: as for read_inspector().
Expected<void> import_inspector(ByteInput& input, const std::string& name, MeasuredRun& run,
                                const std::function<void(double)>& progress = {});

/// Adds a log of NCCL to `run`. The log has communicators, collectives (without times), NCCL's
/// choices, transports, networks and environment variables.
/// ERRORS: as for read_nccl_log().
Expected<void> import_nccl_log(ByteInput& input, const std::string& name, MeasuredRun& run,
                               const std::function<void(double)>& progress = {});

}  // namespace tutti::core
