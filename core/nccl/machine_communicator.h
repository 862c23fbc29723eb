#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// A communicator, and the system with which the time model describes its machines.
struct OnMachines {
  System system;
  Communicator communicator;
  std::string note;  ///< note on assumptions; empty: none were made
};

/// Returns NCCL's communicator on machines of this kind. Usually its graphs are computed by
/// formulas. The graphs are searched on the machine's topology if its GPUs form a cube mesh, or if
/// `settings` change the paths between GPUs and cards (NCCL_P2P_DISABLE, NCCL_SHM_DISABLE,
/// NCCL_PXN_DISABLE, NCCL_IB_DISABLE, NCCL_NET_DISABLE_INTRA, NCCL_CROSS_NIC, NCCL_NET_GDR_LEVEL).
///
/// With such settings, NCCL may treat one machine as several nodes, whose GPUs communicate only
/// over the network; the result then has these nodes. If the network is unspecified, InfiniBand is
/// assumed, and a note says so.
/// REQUIRES: system = system_of(machine, …, network, option), except that the rate of its cards may
/// have been changed.
/// ERRORS: those of the search or the formulas; the settings divide a machine without network cards
/// into several nodes.
Expected<OnMachines> on_machines(const Machine& machine, const System& system,
                                 const std::optional<std::string>& network,
                                 const std::string& option, const Settings& settings,
                                 Version version);

}  // namespace tutti::core::nccl
