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

/// Adds a dump of NCCL's example profiler plugin to `run`. A dump contains the records of one rank
/// of one communicator. ERRORS: as for read_nccl_profiler().
Expected<void> import_nccl_profiler(ByteInput& input, const std::string& name, MeasuredRun& run);
/// If `run` was read from dumps of this plugin, sets the sizes of its communicators and
/// collectives; otherwise, does nothing. Must be called after all dumps were read.
void finish_nccl_profiler(MeasuredRun& run);

/// Adds a status of NCCL's RAS to `run`: communicators, and notes on ranks that are missing or have
/// called fewer collectives than others. A status has no times. ERRORS: as for read_nccl_ras().
Expected<void> import_nccl_ras(ByteInput& input, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
