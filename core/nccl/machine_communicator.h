#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// A communicator, and the description of its machines for the time model.
struct OnMachines {
  System system;
  Communicator communicator;
  std::vector<std::string> notes;  ///< notes for the user on assumptions, and on values of
                                   ///< variables that NCCL replaces
};

/// Returns NCCL's communicator on machines of this kind. In most cases, the graphs of the
/// communicator are computed with formulas. NCCL's search is executed on the machine's topology in
/// two cases: if the machine's GPUs form a cube mesh, and if `settings` change the paths between
/// GPUs and cards (NCCL_P2P_DISABLE, NCCL_SHM_DISABLE, NCCL_PXN_DISABLE, NCCL_IB_DISABLE,
/// NCCL_NET_DISABLE_INTRA, NCCL_CROSS_NIC, NCCL_NET_GDR_LEVEL).
///
/// If `settings` change the paths between GPUs and cards, NCCL may treat one machine as several
/// nodes, which communicate only over the network. The returned communicator then has several nodes
/// per machine. If `network` is unspecified, InfiniBand is assumed, and a note states this
/// assumption.
/// REQUIRES: system = system_of(machine, …, network, option), except that the rate of its cards may
/// have been changed.
/// ERRORS: the errors of the search or of the formulas; the settings divide a machine without
/// network cards into several nodes.
Expected<OnMachines> on_machines(const Machine& machine, const System& system,
                                 const std::optional<std::string>& network,
                                 const std::string& option, const Settings& settings,
                                 Version version);

}  // namespace tutti::core::nccl
