#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// A communicator, and the machines as its times see them.
struct OnMachines {
  System system;
  Communicator communicator;
  std::string note;  ///< what had to be assumed; empty: nothing
};

/// NCCL on machines of that kind. Its graphs are counted, or, where `settings` change the paths
/// between GPUs and cards (NCCL_P2P_DISABLE, NCCL_SHM_DISABLE, NCCL_PXN_DISABLE, NCCL_IB_DISABLE,
/// NCCL_NET_DISABLE_INTRA, NCCL_CROSS_NIC, NCCL_NET_GDR_LEVEL), searched on the machine as its file
/// draws it. Under such settings a machine may be several nodes to NCCL, whose GPUs reach each
/// other by the network alone: so it is in the answer. If nobody says what network that is, it is
/// InfiniBand, and the note says so. GPUs in a cube mesh are searched in any case.
/// REQUIRES: system = system_of(machine, …, network, option), of which the rate of its cards may
/// have been changed since. ERRORS: what the search or the counting cannot do; a machine without
/// network cards that falls apart.
Expected<OnMachines> on_machines(const Machine& machine, const System& system,
                                 const std::optional<std::string>& network,
                                 const std::string& option, const Settings& settings,
                                 Version version);

}  // namespace tutti::core::nccl
