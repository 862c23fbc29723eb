#pragma once

#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a profile of TensorFlow or JAX, which has all GPUs of a host, to `run`. Each GPU is a rank.
/// ERRORS: as for read_xspace(); the profile has too many kernels.
Expected<void> import_xspace(ByteInput& input, const std::string& name, MeasuredRun& run,
                             const std::function<void(double)>& progress = {});

}  // namespace tutti::core
