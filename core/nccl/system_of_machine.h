#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/host_transport.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns `nodes` machines of this kind, with `gpus` GPUs each (default: all), in NCCL's terms.
/// The GPU model follows from the source of the machine's first GPU (known_gpus.h), and the CPU
/// from that of its first CPU. The network is that of the machine's first card, unless `network`
/// names one; errors then mention the option `option`. ERRORS: no GPU, an unknown GPU, fewer GPUs
/// than requested, a network that is unknown or unspecified.
Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network,
                           const std::string& option = "--network");

/// Returns the parameters of NCCL's sockets on the hosts of a TCP network. REQUIRES: `hosts` is
/// NCCL's.
Sockets sockets_of(const HostTransport& hosts);

}  // namespace tutti::core::nccl
