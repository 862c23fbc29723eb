#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// A communicator, and the machines as the time model sees them.
struct OnMachines {
  System system;
  Communicator communicator;
  std::string note;  ///< a note on assumptions that were made; empty: none
};

/// Returns NCCL's communicator on machines of this kind. Its graphs are computed by formulas, or,
/// if `settings` change the paths between GPUs and cards (NCCL_P2P_DISABLE, NCCL_SHM_DISABLE,
/// NCCL_PXN_DISABLE, NCCL_IB_DISABLE, NCCL_NET_DISABLE_INTRA, NCCL_CROSS_NIC, NCCL_NET_GDR_LEVEL),
/// searched on the machine as its file describes it. Under such settings NCCL may treat a machine
/// as several nodes, whose GPUs communicate only over the network; the result then has these nodes.
/// If this network is unspecified, InfiniBand is assumed, and a note says so. GPUs in a cube mesh
/// are always searched.
/// REQUIRES: system = system_of(machine, …, network, option), where only the rate of its cards may
/// have been changed. ERRORS: those of the search or the formulas; a machine without network cards
/// that is divided into several nodes.
Expected<OnMachines> on_machines(const Machine& machine, const System& system,
                                 const std::optional<std::string>& network,
                                 const std::string& option, const Settings& settings,
                                 Version version);

}  // namespace tutti::core::nccl
