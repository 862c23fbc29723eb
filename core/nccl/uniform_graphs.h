#pragma once

#include "core/base/error.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// The communicator of all GPUs of `system` under a version: what NCCL's search ends with on machines whose GPUs are all alike, by counting instead of searching
/// (uniform_graphs.cpp teaches how), then the channels. Orders of GPUs are left empty.
/// ERRORS: machines that cannot be counted so: part of a cube mesh.
Expected<Communicator> uniform_communicator(const System& system, Version version, const Settings& settings);

}  // namespace tutti::core::nccl
