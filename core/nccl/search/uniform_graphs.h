#pragma once

#include "core/base/error.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the communicator that a release of NCCL creates for all GPUs of `system`. The graphs
/// equal the result of NCCL's search on machines with identical GPUs. The graphs are computed by
/// formulas (explained in uniform_graphs.cpp) and do not contain the orders of GPUs. For a cube
/// mesh on one node, the search is executed instead, and the graphs contain the orders of GPUs.
/// ERRORS: there is no formula for the system. Systems without a formula are: several nodes with a
/// part of a cube mesh, several nodes without network cards, and systems whose links are too slow
/// for even one channel.
Expected<Communicator> uniform_communicator(const System& system, Version version,
                                            const Settings& settings);

}  // namespace tutti::core::nccl
