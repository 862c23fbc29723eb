#pragma once

#include "real/nccl/api.h"
#include "real/nccl/module/profiler_abi.h"

namespace tutti::real {

/// Implements TuttiNcclApi::take_channels(). Thread-safe.
int take_channels(TuttiNcclChannel* to, int most);

/// Returns the name by which NCCL's profiler reports the communicator with this number. The
/// function take_channels() derives the number from this name. The returned text is never freed.
const char* profiled_name(int communicator);

}  // namespace tutti::real

/// NCCL looks up this symbol in the library that the environment variable NCCL_PROFILER_PLUGIN
/// names.
extern "C" __attribute__((visibility("default"))) const TuttiNcclProfiler ncclProfiler_v4;
