#pragma once

#include "core/base/error.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// The communicator of all GPUs of `system` under a version: what NCCL's search ends with on
/// machines whose GPUs are all alike, by counting instead of searching (uniform_graphs.cpp teaches
/// how), then the channels. Orders of GPUs are left empty. Of a cube mesh on one node the first
/// GPUs are searched, in their orders. ERRORS: machines that cannot be counted so: part of a cube
/// mesh on several nodes; several without network cards; links too slow for any channel.
Expected<Communicator> uniform_communicator(const System& system, Version version,
                                            const Settings& settings);

}  // namespace tutti::core::nccl
