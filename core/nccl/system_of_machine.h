#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/host_transport.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the system that consists of `nodes` machines of this kind with `gpus` GPUs each
/// (default: all). The first GPU's model, or the nearest known model, determines the facts about
/// GPUs (known_gpus.h). The first CPU's vendor determines the facts about CPUs. If `network` names
/// a network, this network is used, and errors mention the option `option`. If `network` names no
/// network, the network is that of the machine's first card. ERRORS: no GPU; a GPU with an unknown
/// model; fewer GPUs than requested; an unknown or unspecified network.
Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network,
                           const std::string& option = "--network");

/// Returns a note if the machine's GPUs are timed as the nearest known model; otherwise "".
std::string note_on_nearest_gpu(const Machine& machine);

/// Returns the parameters of NCCL's sockets on a TCP network. REQUIRES: `hosts` describes NCCL's
/// library.
Sockets sockets_of(const HostTransport& hosts);

}  // namespace tutti::core::nccl
