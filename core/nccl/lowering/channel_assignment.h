#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/lowering/channel_loops.h"
#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// Returns the assignment of a collective, alone in its group, to channels: since 2.22 in parts by
/// traffic (channel_split.h), in 2.20 and 2.21 in equal parts of whole chunks of the protocol,
/// before that in turns over all channels; CollNet always takes turns. `count` is the real number
/// of elements of the buffer, or of a block; chunk sizes follow from `planned`, which may be
/// larger. REQUIRES: planned ≥ count > 0. SOURCE: NVIDIA/nccl src/enqueue.cc:
/// scheduleCollTasksToPlan (2.22 and later), addCBDCollToPlan (2.20, 2.21), computeColl (before);
/// src/device/*.h of v2.19.4, src/collectives/device/*.h of v2.6.4 to v2.9.9.
std::vector<ChannelLoops> assign_channels(const Communicator& communicator, Function function,
                                          const Choice& choice, std::int64_t count,
                                          std::int64_t planned, std::int64_t element_bytes);

}  // namespace tutti::core::nccl
