#pragma once

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// A machine as NCCL would write it down (NCCL_TOPO_DUMP_FILE), for settings that change the paths
/// which its search finds. `system`: what is known of the machine's GPUs and CPUs. Link rates are
/// the machine's, which are those that NCCL plans with; cards have one port each and can do
/// GPUDirect if the system's can. ERRORS: a GPU or card that hangs on no PCIe.
Expected<Topology> topology_of(const Machine& machine, const System& system);

}  // namespace tutti::core::nccl
