#include "core/nccl/lowering/collnet_schedule.h"

#include <utility>

namespace tutti::core::nccl {

CollNet::CollNet(const Communicator& comm, std::vector<ChannelLoops> channels, Lane lanes)
    : n_(comm.ranks),
      gpus_(comm.ranks_of_node()),
      nodes_(comm.nodes),
      lanes_(lanes),
      channels_(std::move(channels)) {}

std::int64_t CollNet::scratch(Rank) const {
  std::int64_t elements = 0;
  for (const ChannelLoops& channel : channels_) elements += 2 * kSlots * channel.chunks.chunk;
  return elements;
}

std::int64_t CollNet::steps(Rank rank, Lane lane) const {
  return channel(lane).loops() * each(rank, lane - role(lane), role(lane));
}

Step CollNet::step(Rank rank, Lane lane, std::int64_t index) const {
  const Lane base = lane - role(lane);
  const std::int64_t of_loop = each(rank, base, role(lane));
  Step step;
  role(lane) == kNet ? net(step, rank, base, index / of_loop, index % of_loop)
                     : inside(step, rank, base, role(lane), index / of_loop, index % of_loop);
  return step;
}

void CollNet::net(Step& step, Rank rank, Lane base, std::int64_t loop, std::int64_t part) const {
  step.group = heads_of_index(rank);
  if (part == 0) {
    step.kind = StepKind::kMulticast;  // a message without content
    step.source = {Buffer::kScratch, 0, 0};
    step.to = Peer::at(0, base + kNet);
    step.wait = until_made(rank, base, loop);
  } else if (part < nodes_) {
    step.kind = StepKind::kReceive;
    step.from = Peer::at(other_head(rank, part - 1), base + kNet);
    step.target = {Buffer::kScratch, 0, 0};
  } else {
    step.kind = StepKind::kSwitchReduce;
    step.source = wanted(sending(rank, base, loop), rank, base, loop);
    step.target = wanted(received(rank, base, loop), rank, base, loop);
    step.wait = until_handed_out(rank, base, loop);
  }
}

Range CollNet::slot(Rank rank, Lane base, std::int64_t loop, std::int64_t first) const {
  std::int64_t offset = 0;
  for (std::size_t c = 0; c < number(base); ++c) offset += 2 * kSlots * channels_[c].chunks.chunk;
  offset += (first + loop % kSlots) * channel(base).chunks.chunk;
  return {Buffer::kScratch, offset, own(rank, base, loop).count};
}

}  // namespace tutti::core::nccl
