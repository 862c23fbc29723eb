#pragma once

#include "core/base/error.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the communicator of all GPUs of `system` under a version: the result of NCCL's search on
/// machines with identical GPUs, computed by formulas (explained in uniform_graphs.cpp), and its
/// channels. The orders of GPUs are empty. In a cube mesh on one node, the first GPUs are searched,
/// with their orders. ERRORS: machines without a formula: part of a cube mesh on several nodes;
/// several without network cards; links too slow for a single channel.
Expected<Communicator> uniform_communicator(const System& system, Version version,
                                            const Settings& settings);

}  // namespace tutti::core::nccl
