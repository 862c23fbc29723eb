#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// `nodes` machines of that kind, of each so many GPUs (all, if nothing is said), as NCCL sees them. Which GPU it is follows from the source of the machine's
/// first, the network from that of its first card unless `network` names one (known_gpus.h), by
/// what the user calls `option`; whose CPUs they are from that of its first CPU.
/// ERRORS: no GPU, one that is not known, fewer GPUs than asked for, a network that is not known.
Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network, const std::string& option = "--network");

}  // namespace tutti::core::nccl
