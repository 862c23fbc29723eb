#pragma once

#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"

namespace tutti::core::nccl {

/// Fills in how many channels a communicator gets, and how many thread blocks NVLS, from the rest
/// of it; and its buffers. SOURCE: NVIDIA/nccl src/graph/connect.cc, ncclTopoPostset;
/// src/transport/nvls.cc, ncclNvlsInit.
void count_channels(Communicator& communicator, const Settings& settings);

}  // namespace tutti::core::nccl
