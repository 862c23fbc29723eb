#pragma once

#include "core/base/error.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the communicator of all GPUs of `system` for a release of NCCL. The graphs equal the
/// result of NCCL's search on machines with identical GPUs. The graphs are computed by formulas
/// (explained in uniform_graphs.cpp) and do not contain the orders of GPUs. For a cube mesh on one
/// node, the search is executed instead, and the graphs contain the orders of GPUs.
/// ERRORS: there is no formula for the system. There is no formula for a part of a cube mesh on
/// several nodes, for several nodes without network cards, and for links that are too slow for a
/// single channel.
Expected<Communicator> uniform_communicator(const System& system, Version version,
                                            const Settings& settings);

}  // namespace tutti::core::nccl
