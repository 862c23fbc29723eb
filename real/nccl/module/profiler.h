#pragma once

#include "real/nccl/api.h"
#include "real/nccl/module/profiler_abi.h"

namespace tutti::real {

/// What NCCL told its profiler of channels that are over, oldest first: at most `most`, which are then forgotten. Any
/// thread.
int take_channels(TuttiNcclChannel* to, int most);

/// The name under which a communicator tells of its channels; it is a number that take_channels() gives back.
/// The text lives as long as the program.
const char* profiled_name(int communicator);

}  // namespace tutti::real

/// What NCCL looks for in the file that NCCL_PROFILER_PLUGIN names.
extern "C" __attribute__((visibility("default"))) const TuttiNcclProfiler ncclProfiler_v4;
