#pragma once

// Between the parts of lowering; nobody else includes it.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/connect.h"
#include "core/nccl/lowering/channel_split.h"
#include "core/nccl/lowering/chunks.h"
#include "core/nccl/lowering/lower.h"
#include "core/nccl/lowering/pat_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core::nccl {

/// A channel: what it does of the buffer (of each block), and in which portions.
struct LoweredChannel {
  ChannelPart part;
  Chunks chunks;
};

std::shared_ptr<const Schedule> lowered_ring(const Communicator& communicator, CollectiveKind kind, Rank root,
                                             std::int64_t elements, std::int64_t granule,
                                             std::vector<LoweredChannel> channels);
std::shared_ptr<const Schedule> lowered_tree(const Communicator& communicator, std::vector<LoweredChannel> channels);
std::shared_ptr<const Schedule> lowered_nvls(const Communicator& communicator, std::vector<LoweredChannel> channels);
/// `orders`: by channel.
std::shared_ptr<const Schedule> lowered_pat(const Communicator& communicator, CollectiveKind kind,
                                            std::int64_t elements, const std::vector<LoweredChannel>& channels,
                                            const std::vector<PatOrder>& orders);
std::shared_ptr<const Schedule> lowered_sends(const Communicator& communicator, const LoweringRequest& request);

inline std::int64_t children(const TreePlace& place) {
  return std::count_if(place.down.begin(), place.down.end(), [](int child) { return child >= 0; });
}

/// One after the other, portions of at most `chunk`.
struct Portions {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t chunk = 1;

  [[nodiscard]] std::int64_t number() const { return (count + chunk - 1) / chunk; }
  [[nodiscard]] Range at(std::int64_t i) const {
    return {Buffer::kData, offset + i * chunk, std::min(chunk, count - i * chunk)};
  }
};

}  // namespace tutti::core::nccl
