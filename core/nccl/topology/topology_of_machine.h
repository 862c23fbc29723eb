#pragma once

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the topology that NCCL would find on a machine (NCCL_TOPO_DUMP_FILE). This function is
/// needed only if settings change the paths that NCCL's search uses. `system` contains the
/// properties of the machine's GPUs and CPUs. The rates of links are those in the machine's file,
/// which are the same as in NCCL's tables. A card has one port. If the system supports GPUDirect,
/// all its network cards support GPUDirect.
/// ERRORS: a GPU or card is not attached to PCIe.
Expected<Topology> topology_of(const Machine& machine, const System& system);

}  // namespace tutti::core::nccl
