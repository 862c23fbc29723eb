#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/names.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// The range of elements that one channel processes, in the buffer or, for a collective with
/// blocks, in every block.
struct ChannelPart {
  std::int64_t offset = 0;
  std::int64_t count = 0;

  bool operator==(const ChannelPart&) const = default;
};

/// Returns how NCCL divides a collective's data into consecutive parts, one per channel. The
/// collective must be the only one in its group. Small collectives use fewer channels, because NCCL
/// gives each channel a minimum of traffic. `count` is the number of elements of the buffer. For an
/// all-gather or reduce-scatter, `count` is the number of elements of a rank's block. REQUIRES:
/// NCCL 2.22 or later; `count`, `channels` and `element_bytes` are positive. SOURCE: NVIDIA/nccl
/// src/enqueue.cc, scheduleCollTasksToPlan.
std::vector<ChannelPart> split_over_channels(Function function, Protocol protocol, Version version,
                                             std::int64_t ranks, std::int64_t count,
                                             std::int64_t element_bytes, int channels);

}  // namespace tutti::core::nccl
