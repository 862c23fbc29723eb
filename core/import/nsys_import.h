#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds an SQLite export of Nsight Systems: a rank for each process that has kernels. Its rank is
/// that in the largest communicator that was created while it was recorded, else its place by
/// process number. ERRORS: those of read_nsys and import_kineto.
Expected<void> import_nsys(const std::string& path, MeasuredRun& run);
/// The same for the bytes of a database; `name` is what errors call them.
Expected<void> import_nsys_bytes(std::string_view bytes, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
