#pragma once

#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/formats/recognise.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Reads one more file of a run. `progress` is called with the share of the file that was read.
/// ERRORS: those of the format's reader, with their location.
Expected<void> import_file(TraceFormat format, const std::string& path, MeasuredRun& run,
                           const std::function<void(double)>& progress = {});
/// Reads one more file of a run from memory. Errors use `name`.
Expected<void> import_bytes(TraceFormat format, std::string_view bytes, const std::string& name,
                            MeasuredRun& run);

/// Call it after all files are read: it sorts ranks and aligns their clocks.
void finish_import(MeasuredRun& run);

}  // namespace tutti::core
