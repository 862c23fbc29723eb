#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds an SQLite export of Nsight Systems: a rank for each process that has kernels. The rank of a
/// process is that in the largest communicator created while it was recorded, otherwise its
/// position by process number. ERRORS: those of read_nsys and import_kineto.
Expected<void> import_nsys(const std::string& path, MeasuredRun& run);
/// Reads the same export from memory; errors use `name`.
Expected<void> import_nsys_bytes(std::string_view bytes, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
