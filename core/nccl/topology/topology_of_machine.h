#pragma once

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns a machine as NCCL would dump it (NCCL_TOPO_DUMP_FILE), for settings that change the
/// paths of its search. `system` has the facts about the machine's GPUs and CPUs. Link rates are
/// the machine's, which are those in NCCL's tables; cards have one port each and support GPUDirect
/// if the system does. ERRORS: a GPU or card that is not attached to PCIe.
Expected<Topology> topology_of(const Machine& machine, const System& system);

}  // namespace tutti::core::nccl
