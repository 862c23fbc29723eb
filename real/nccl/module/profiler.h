#pragma once

#include "real/nccl/api.h"
#include "real/nccl/module/profiler_abi.h"

namespace tutti::real {

/// Implements TuttiNcclApi::take_channels(). Thread-safe.
int take_channels(TuttiNcclChannel* to, int most);

/// Returns the name under which NCCL knows the communicator `number`. The profiler receives this
/// name, and take_channels() returns the number. The text of the name is never freed.
const char* profiled_name(int communicator);

}  // namespace tutti::real

/// The symbol that NCCL looks up in the library that the variable NCCL_PROFILER_PLUGIN names.
extern "C" __attribute__((visibility("default"))) const TuttiNcclProfiler ncclProfiler_v4;
