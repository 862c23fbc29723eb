#pragma once

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the topology that NCCL would find on a machine (NCCL_TOPO_DUMP_FILE). This topology is
/// only needed if settings change the paths of NCCL's search. `system` contains the properties of
/// the machine's GPUs and CPUs. Links have the rates in the machine's file, which equal the rates
/// in NCCL's tables. A card has one port. A card supports GPUDirect if the system supports
/// GPUDirect.
/// ERRORS: a GPU or card is not attached to PCIe.
Expected<Topology> topology_of(const Machine& machine, const System& system);

}  // namespace tutti::core::nccl
