#include "core/nccl/lowering/channel_split.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/nccl/lowering/rounding.h"

namespace tutti::core::nccl {
namespace {

/// Returns the traffic, in bytes, that NCCL counts for every byte of the `count` elements.
std::int64_t traffic_per_byte(Function function, std::int64_t ranks) {
  switch (function) {
    case Function::kAllReduce: return 2;
    case Function::kAllGather:
    case Function::kReduceScatter: return ranks;
    case Function::kBroadcast:
    case Function::kReduce: break;
  }
  return 1;
}

std::int64_t min_traffic(Version version) {
  return version >= Version{2, 29, 2} ? 32768 : version >= Version{2, 23, 0} ? 16384 : 512;
}

}  // namespace

std::vector<ChannelPart> split_over_channels(Function function, Protocol protocol, Version version,
                                             std::int64_t ranks, std::int64_t count,
                                             std::int64_t element_bytes, int channels) {
  TUTTI_CHECK((version >= Version{2, 22, 0} && count > 0 && element_bytes > 0 && channels > 0),
              "{} elements of {} bytes over {} channels of NCCL {}", count, element_bytes, channels,
              to_string(version));
  const std::int64_t least = min_traffic(version);
  // NCCL multiplies the traffic of LL by four.
  const std::int64_t per_byte =
      traffic_per_byte(function, ranks) * (protocol == Protocol::kLl ? 4 : 1);
  const std::int64_t traffic = std::max(least, count * element_bytes * per_byte);
  const std::int64_t per_channel = std::max(least, traffic / channels);
  const std::int64_t cell_bytes = divided_up(divided_up(least, per_byte), 16) * 16;
  const std::int64_t cell = std::max<std::int64_t>(1, cell_bytes / element_bytes);
  const std::int64_t cells = divided_up(count * element_bytes, cell_bytes);
  std::int64_t each = std::min(cells, divided_up(per_channel, cell_bytes * per_byte));
  // NCCL may give the first channel less if it already has work of another collective. This
  // function assumes that the collective is alone, so the first channel gets as much as a middle
  // channel.
  const std::int64_t first = channels == 1 ? cells : each;
  std::int64_t middle = (cells - first) / each;
  std::int64_t last = (cells - first) % each;
  if (1 + middle + (last > 0 ? 1 : 0) > channels) {
    middle = channels - 2;
    each = (cells - first) / (middle + 1);
    last = each + (cells - first) % (middle + 1);
  }
  if (last == 0 && middle > 0) {
    last = each;
    --middle;
  }
  std::vector<ChannelPart> parts;
  std::int64_t begin = 0;
  const auto add = [&](std::int64_t of_cells) {
    if (of_cells == 0) return;
    parts.push_back({begin, of_cells * cell});
    begin += of_cells * cell;
  };
  add(first);
  for (std::int64_t c = 0; c < middle; ++c) add(each);
  add(last);
  parts.back().count -= begin - count;
  return parts;
}

}  // namespace tutti::core::nccl
