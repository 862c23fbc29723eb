#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds an SQLite export of Nsight Systems to `run`. Each process with kernels becomes a rank. The
/// rank number of a process is its rank in the largest communicator that was created during the
/// recording. If none was created, processes are numbered in the order of their process IDs.
/// ERRORS: as for read_nsys() and import_kineto().
Expected<void> import_nsys(const std::string& path, MeasuredRun& run);
/// Does the same as import_nsys(), for an export in memory. Error messages show `name` in place of
/// a path.
Expected<void> import_nsys_bytes(std::string_view bytes, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
