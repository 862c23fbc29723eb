#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/host_transport.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the system that consists of `nodes` machines of this kind with `gpus` GPUs each
/// (default: all). The properties of GPUs are those of the first GPU's model or, if it is unknown,
/// of the nearest known model (known_gpus.h). The properties of CPUs follow from the first CPU's
/// vendor. If `network` is nullopt, the network is that of the machine's first card. If `network`
/// is set, it replaces the card's network, and errors name `option`, the option with which the user
/// set it.
/// ERRORS: the machine has no GPU, or fewer GPUs than requested; the first GPU has neither a known
/// model nor a nearest known model; there are several machines, but they have no network card, or
/// the network is unknown or unspecified.
Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network,
                           const std::string& option = "--network");

/// If the machine's GPU model is unknown, returns a note that names the known model whose times are
/// used instead; otherwise "".
std::string note_on_nearest_gpu(const Machine& machine);

/// Returns the parameters of NCCL's sockets on a TCP network. REQUIRES: `hosts` describes NCCL's
/// library.
Sockets sockets_of(const HostTransport& hosts);

}  // namespace tutti::core::nccl
