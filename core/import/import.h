#pragma once

#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/formats/recognise.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a file to `run`. `progress` is called with the share of the file that was read. ERRORS:
/// those of the reader of this format, with their locations in the file.
Expected<void> import_file(TraceFormat format, const std::string& path, MeasuredRun& run,
                           const std::function<void(double)>& progress = {});
/// Adds the content of a file in memory to `run`. Error messages show `name` in place of a path.
Expected<void> import_bytes(TraceFormat format, std::string_view bytes, const std::string& name,
                            MeasuredRun& run);

/// Sorts the ranks and aligns their clocks. Must be called after all files were added.
void finish_import(MeasuredRun& run);

}  // namespace tutti::core
