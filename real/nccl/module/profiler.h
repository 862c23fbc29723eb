#pragma once

#include "real/nccl/api.h"
#include "real/nccl/module/profiler_abi.h"

namespace tutti::real {

/// Takes up to `most` completed channels that NCCL reported to its profiler, oldest first.
/// Thread-safe.
int take_channels(TuttiNcclChannel* to, int most);

/// Returns the name under which a communicator reports its channels: a number, which
/// take_channels() returns. The text lives as long as the program.
const char* profiled_name(int communicator);

}  // namespace tutti::real

/// The symbol that NCCL loads from the file that NCCL_PROFILER_PLUGIN names.
extern "C" __attribute__((visibility("default"))) const TuttiNcclProfiler ncclProfiler_v4;
