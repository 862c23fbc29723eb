#pragma once

#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a dump of the NCCL Inspector to `run`: all collectives of a process. The rank is that in
/// the process's largest communicator. Only verbose dumps have start times. ERRORS: those of
/// read_inspector.
Expected<void> import_inspector(ByteInput& input, const std::string& name, MeasuredRun& run,
                                const std::function<void(double)>& progress = {});

/// Adds a log of NCCL: communicators, collectives without times, choices, transports, networks and
/// variables. ERRORS: those of read_nccl_log.
Expected<void> import_nccl_log(ByteInput& input, const std::string& name, MeasuredRun& run,
                               const std::function<void(double)>& progress = {});

}  // namespace tutti::core
