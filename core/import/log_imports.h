#pragma once

#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a dump of the NCCL Inspector to `run`: all collectives of a process. Its rank is that in
/// its largest communicator. Times on an axis are known from verbose dumps alone. ERRORS: those of
/// read_inspector.
Expected<void> import_inspector(ByteInput& input, const std::string& name, MeasuredRun& run,
                                const std::function<void(double)>& progress = {});

/// Adds a log of NCCL: communicators, collectives without times, choices, transports, networks and
/// variables. ERRORS: those of read_nccl_log.
Expected<void> import_nccl_log(ByteInput& input, const std::string& name, MeasuredRun& run,
                               const std::function<void(double)>& progress = {});

}  // namespace tutti::core
