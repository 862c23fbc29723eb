#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/host_transport.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// `nodes` machines of that kind, of each so many GPUs (all, if nothing is said), as NCCL sees
/// them. Which GPU it is follows from the source of the machine's first (known_gpus.h), whose CPUs
/// they are from that of its first CPU. The network is what the machine's first card states, unless
/// `network` names one, by what the user calls `option`. ERRORS: no GPU, one that is not known,
/// fewer GPUs than asked for, a network that is not known or that nobody states.
Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network,
                           const std::string& option = "--network");

/// NCCL's sockets as the hosts of a TCP network carry them. REQUIRES: `hosts` is NCCL's.
Sockets sockets_of(const HostTransport& hosts);

}  // namespace tutti::core::nccl
