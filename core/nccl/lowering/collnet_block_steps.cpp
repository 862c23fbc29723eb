// All-gathers and reduce-scatters in which the network reduces and every GPU is a head. A rail
// consists of the blocks of all heads with the same index, node by node. The channels process the
// chunks of a rail round robin. Chunks need not end at block boundaries: a chunk covers parts of
// one or of several consecutive blocks.
//
// - All-gather: a head sends the chunk's part of its own block to its rail, and receives the parts
//   of the other nodes. Then the head distributes the chunk in its node, either GPU by GPU
//   (CollNetDirect) or by multicast (NVLS).
// - Reduce-scatter: a head sums its rail's chunk over all GPUs of its node. The GPUs of the node
//   either send their data to the head, which sums it (CollNetDirect), or the NVSwitch reduces the
//   data (NVLS). The network reduces the heads' chunks, and each head receives the part of its own
//   block.
//
// In a rank's buffer, the blocks of a rail are not adjacent. Data is therefore copied between the
// buffer and a slot part by part. For uniformity, all chunks of a channel have the same number of
// parts, some of which may be empty. Lanes of a channel: lanes 0 to 2 are described in
// collnet_schedule.h. For an all-gather, lane 3 + h receives chunks of head h's rail. For a
// reduce-scatter, lane 3 sends data to the heads, or sends and receives signals.

#include <algorithm>

#include "core/nccl/lowering/collnet_schedule.h"
#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

class Rails : public CollNet {
 public:
  Rails(const Communicator& comm, bool nvls, std::int64_t elements,
        std::vector<ChannelLoops> channels, Lane lanes)
      : CollNet(comm, std::move(channels), lanes), nvls_(nvls), block_(elements / comm.ranks) {}

 protected:
  [[nodiscard]] int head(Rank, Lane) const override {
    return 0;
  }  // each GPU is the head of its own rail; all rails have the same loops

  /// Returns the maximum number of parts of a chunk.
  [[nodiscard]] std::int64_t parts(Lane base) const {
    const std::int64_t chunk = channel(base).chunks.chunk;
    return std::min<std::int64_t>(nodes_, chunk < 2 ? 1 : (chunk - 2) / block_ + 2);
  }
  /// The part of a loop's chunk that lies in the block of one node, as a range of elements of the
  /// rail. It may be empty.
  struct Part {
    std::int64_t node = 0;
    std::int64_t begin = 0, end = 0;
    std::int64_t chunk = 0;  ///< index in the rail at which the chunk begins
  };
  [[nodiscard]] Part of_node(Lane base, std::int64_t loop, std::int64_t node) const {
    const Range chunk = channel(base).at(loop, 0);
    const std::int64_t begin = std::clamp(node * block_, chunk.offset, chunk.offset + chunk.count);
    const std::int64_t end = std::clamp((node + 1) * block_, begin, chunk.offset + chunk.count);
    return {node, begin, end, chunk.offset};
  }
  [[nodiscard]] Part part(Lane base, std::int64_t loop, std::int64_t number) const {
    const std::int64_t first = channel(base).at(loop, 0).offset / block_;
    return of_node(base, loop, std::min<std::int64_t>(first + number, nodes_));
  }
  [[nodiscard]] Part own_part(Rank rank, Lane base, std::int64_t loop) const {
    return of_node(base, loop, rank / gpus_);
  }
  /// Returns the range of a part in a rank's buffer. `gpu` is the index of the rail's heads in
  /// their nodes.
  [[nodiscard]] Range in_data(const Part& part, int gpu) const {
    if (part.begin == part.end) return {Buffer::kData, 0, 0};
    const std::int64_t block = part.node * gpus_ + gpu;
    return {Buffer::kData, block * block_ + part.begin - part.node * block_, part.end - part.begin};
  }
  [[nodiscard]] static Range in_slot(const Range& slot, const Part& part) {
    return {slot.buffer, slot.offset + part.begin - part.chunk, part.end - part.begin};
  }
  [[nodiscard]] Range wanted(const Range& slot, Rank rank, Lane base,
                             std::int64_t loop) const override {
    return in_slot(slot, own_part(rank, base, loop));
  }
  /// Returns the GPU that is `number` + 1 positions after this rank's GPU in the node.
  [[nodiscard]] int after(Rank rank, std::int64_t number) const {
    return static_cast<int>((local(rank) + 1 + number) % gpus_);
  }

  bool nvls_;

 private:
  std::int64_t block_;
};

class GatherByNetwork : public Rails {
 public:
  GatherByNetwork(const Communicator& comm, bool nvls, std::int64_t elements,
                  std::vector<ChannelLoops> channels)
      : Rails(comm, nvls, elements, std::move(channels), kFirstOwn + comm.ranks_of_node()) {}

 protected:
  [[nodiscard]] std::int64_t each_net() const override { return nodes_; }
  void net(Step& step, Rank rank, Lane base, std::int64_t loop,
           std::int64_t number) const override {
    if (number == 0) {
      step.kind = StepKind::kMulticast;
      step.group = heads_of_index(rank);
      step.source = wanted(sending(rank, base, loop), rank, base, loop);
      step.to = Peer::at(0, base + kNet);
      step.wait = until_made(rank, base, loop);
      return;
    }
    const Rank from = other_head(rank, number - 1);
    step.kind = StepKind::kReceive;
    step.from = Peer::at(from, base + kNet);
    step.target = wanted(received(rank, base, loop), from, base, loop);
    if (number == 1) step.wait = until_handed_out(rank, base, loop);
  }

  [[nodiscard]] std::int64_t each_inside(Rank rank, Lane base, Lane role) const override {
    if (role == kUp) return 1;
    if (role == kDown) return parts(base) * (1 + (nvls_ ? 1 : gpus_ - 1));
    return role - kFirstOwn == local(rank) ? 0 : parts(base);
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop,
              std::int64_t number) const override {
    if (role == kUp) {
      step.kind = StepKind::kCopy;
      step.source = in_data(own_part(rank, base, loop), local(rank));
      step.target = wanted(sending(rank, base, loop), rank, base, loop);
      if (loop >= kSlots) step.wait = {base + kNet, (loop - kSlots) * each_net() + 1};
      return;
    }
    const Part one = part(base, loop, number % parts(base));
    if (role >= kFirstOwn) {
      step.kind = StepKind::kReceive;
      step.from = Peer::at(beside(rank, role - kFirstOwn), base + kDown);
      step.target = in_data(one, role - kFirstOwn);
      return;
    }
    const std::int64_t round = number / parts(base);
    const Range here = in_data(one, local(rank));
    if (round == 0) {
      step.kind = StepKind::kCopy;
      step.source = in_slot(received(rank, base, loop), one);
      step.target = here;
      if (one.node == rank / gpus_)
        step.source.count = step.target.count = 0;  // the node's own part is already in place
      if (number == 0) step.wait = until_received(base, loop);
      return;
    }
    step.kind = nvls_ ? StepKind::kMulticast : StepKind::kSend;
    step.group = node_of(rank);
    step.source = here;
    step.to =
        Peer::at(nvls_ ? 0 : beside(rank, after(rank, round - 1)), base + kFirstOwn + local(rank));
  }
};

class ScatterByNetwork : public Rails {
 public:
  ScatterByNetwork(const Communicator& comm, bool nvls, std::int64_t elements,
                   std::vector<ChannelLoops> channels)
      : Rails(comm, nvls, elements, std::move(channels), kScatter + 1) {}

  [[nodiscard]] int credits(Rank rank, Lane lane) const override {
    return signals(lane) ? kUnlimitedCredits : CollNet::credits(rank, lane);
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return signals(lane) ? gpus_ : CollNet::steps(rank, lane);
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return signals(lane) ? signal(node_of(rank), lane, index) : CollNet::step(rank, lane, index);
  }

 protected:
  [[nodiscard]] std::int64_t each_inside(Rank, Lane base, Lane role) const override {
    if (role == kDown) return 1;
    const std::int64_t others = nvls_ ? 1 : gpus_ - 1;
    return parts(base) * (role == kUp ? std::max<std::int64_t>(1, others) : others);
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop,
              std::int64_t number) const override {
    if (role == kDown) {
      step.kind = StepKind::kCopy;
      step.source = wanted(received(rank, base, loop), rank, base, loop);
      step.target = in_data(own_part(rank, base, loop), local(rank));
      step.wait = until_received(base, loop);
      return;
    }
    const std::int64_t round = number / parts(base);
    const Part one = part(base, loop, number % parts(base));
    if (role == kScatter) {
      const int head = after(rank, round);
      step.kind = StepKind::kSend;
      step.source = in_data(one, head);
      step.to = Peer::at(beside(rank, head), base + kUp);
      return;
    }
    step.target = in_slot(sending(rank, base, loop), one);
    step.source = round == 0 ? in_data(one, local(rank)) : step.target;
    if (number == 0)
      step.wait = nvls_ && loop == 0 ? Wait{base + kScatter, gpus_} : until_sent(base, loop);
    if (nvls_) {
      step.kind = StepKind::kSwitchReduce;
      step.group = node_of(rank);
    } else if (gpus_ == 1) {
      step.kind = StepKind::kCopy;
    } else {
      // Receive first from the GPU whose first message goes to this GPU.
      step.kind = StepKind::kReceiveReduce;
      step.from =
          Peer::at(beside(rank, static_cast<int>((local(rank) + gpus_ - 1 - round) % gpus_)),
                   base + kScatter);
    }
  }

 private:
  static constexpr Lane kScatter = kFirstOwn;
  [[nodiscard]] bool signals(Lane lane) const { return nvls_ && role(lane) == kScatter; }
};

}  // namespace

std::shared_ptr<const Schedule> lowered_collnet_blocks(const Communicator& comm,
                                                       CollectiveKind kind, bool nvls,
                                                       std::int64_t elements,
                                                       std::vector<ChannelLoops> channels) {
  if (kind == CollectiveKind::kAllGather)
    return std::make_shared<GatherByNetwork>(comm, nvls, elements, std::move(channels));
  return std::make_shared<ScatterByNetwork>(comm, nvls, elements, std::move(channels));
}

}  // namespace tutti::core::nccl
