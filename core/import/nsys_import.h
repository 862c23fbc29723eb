#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds an SQLite export of Nsight Systems to `run`, with a rank for each process that has kernels.
/// The rank of a process is its rank in the largest communicator that was created during the
/// recording. If no communicator was created during the recording, processes are numbered in the
/// order of their process IDs. ERRORS: as for read_nsys() and import_kineto().
Expected<void> import_nsys(const std::string& path, MeasuredRun& run);
/// Does the same as import_nsys(), for an export in memory. Errors call it `name`.
Expected<void> import_nsys_bytes(std::string_view bytes, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
