#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/host_transport.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the system that consists of `nodes` machines of this kind with `gpus` GPUs each. By
/// default, all GPUs are used. The model of the first GPU determines the properties of GPUs
/// (known_gpus.h). The vendor of the first CPU determines the properties of CPUs. The network is
/// `network` if it is given, and otherwise that of the machine's first card. Errors about `network`
/// mention the option `option`. ERRORS: the machine has no GPU, a GPU of an unknown model, or fewer
/// GPUs than requested; the network is unknown or unspecified.
Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network,
                           const std::string& option = "--network");

/// Returns the parameters of NCCL's sockets on a TCP network. REQUIRES: `hosts` describes NCCL's
/// library.
Sockets sockets_of(const HostTransport& hosts);

}  // namespace tutti::core::nccl
