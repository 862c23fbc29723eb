#pragma once

#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"

namespace tutti::core::nccl {

/// Computes the number of channels, the number of NVLS thread blocks, and the buffer sizes of a
/// communicator from its other fields. SOURCE: NVIDIA/nccl src/graph/connect.cc, ncclTopoPostset;
/// src/transport/nvls.cc, ncclNvlsInit.
void count_channels(Communicator& communicator, const Settings& settings);

}  // namespace tutti::core::nccl
