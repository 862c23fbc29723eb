#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/lowering/channel_loops.h"
#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// Returns the ranges of a collective's data that each channel processes. REQUIRES: the collective
/// is the only one in its group. Since 2.22, the parts of channels depend on the traffic that their
/// data causes (channel_split.h). In 2.20 and 2.21, all channels get equal parts, rounded to
/// multiples of the protocol's alignment. Before 2.20, and in networks that reduce, the data is cut
/// into chunks, which are assigned to channels round robin. `count` is the actual number of
/// elements in the buffer or, for collectives with blocks (all-gather, reduce-scatter), in one
/// block. Chunk sizes are computed as for a collective of `planned` elements, which may be more
/// than `count` (lower.h).
/// REQUIRES: planned ≥ count > 0. SOURCE: NVIDIA/nccl src/enqueue.cc: scheduleCollTasksToPlan (2.22
/// and later), addCBDCollToPlan (2.20, 2.21), computeColl (before); src/device/*.h of v2.19.4,
/// src/collectives/device/*.h of v2.6.4 to v2.9.9.
std::vector<ChannelLoops> assign_channels(const Communicator& communicator, Function function,
                                          const Choice& choice, std::int64_t count,
                                          std::int64_t planned, std::int64_t element_bytes);

}  // namespace tutti::core::nccl
