#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/names.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// The part of a collective on one channel: a range of elements of the buffer or, for a collective
/// of blocks, of every block.
struct ChannelPart {
  std::int64_t offset = 0;
  std::int64_t count = 0;

  bool operator==(const ChannelPart&) const = default;
};

/// Returns NCCL's division of a collective that is alone in its group into consecutive parts, one
/// per channel. Small collectives use fewer channels, so that a channel has a minimum of traffic.
/// `count` is the number of elements of the buffer, or of a rank's block of an all-gather or
/// reduce-scatter. REQUIRES: NCCL 2.22 or later; count, channels, element_bytes above 0. SOURCE:
/// NVIDIA/nccl src/enqueue.cc, scheduleCollTasksToPlan.
std::vector<ChannelPart> split_over_channels(Function function, Protocol protocol, Version version,
                                             std::int64_t ranks, std::int64_t count,
                                             std::int64_t element_bytes, int channels);

}  // namespace tutti::core::nccl
