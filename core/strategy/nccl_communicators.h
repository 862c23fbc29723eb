#pragma once

#include "core/strategy/algorithm_table.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// True if NCCL executes the whole collective of each pack. The packs of a communicator then run
/// one after the other, even if the program launches them on different streams. SOURCE: NVIDIA/nccl
/// issue 574 (S. Jeaugey, 2021-09-27): NCCL adds CUDA events, because collectives share the buffers
/// of the communicator.
inline bool packs_share_communicators(const Strategy& strategy) {
  return !strategy.spec && !strategy.custom && !strategy.servers &&
         traits(strategy.algorithm).nccl == NcclPart::kAll;
}

}  // namespace tutti::core
