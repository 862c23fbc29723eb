// All-reduces whose sums over nodes the network's switches make (SHARP). In each node a chunk is added up in one GPU, a head, which has the network add what the heads of one index of
// all nodes hold, and hands the sum out in its node. CollNetDirect: every GPU sends chunk h of a loop to head h, and gets its sum from there. CollNetChain: chunks
// go along a chain of the node's GPUs to its first, and back.
//
// A head's proxy puts what is to be added in one of eight slots and gets the sum in another. Heads tell each other that theirs is there, then the switch adds it up for each: the switch is the step
// kSwitchReduce of every head, as it is for NVLS. A slot is free again when all heads have told that they are at the next one.
//
// Lanes of a channel: 0 adds up (sends up), 1 the head's proxy, 2 hands out (passes down); of CollNetDirect also 3, which sends to heads, and 4, which hears from them.

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

constexpr Lane kUp = 0;
constexpr Lane kNet = 1;
constexpr Lane kDown = 2;
constexpr Lane kScatter = 3;
constexpr Lane kGather = 4;

/// The part between nodes, and what both have in common.
class CollNet : public Schedule {
 public:
  CollNet(const Communicator& comm, std::vector<ChannelLoops> channels, Lane lanes)
      : n_(comm.ranks),
        gpus_(comm.ranks_of_node()),
        nodes_(comm.nodes),
        lanes_(lanes),
        channels_(std::move(channels)) {}

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return lanes_ * static_cast<Lane>(channels_.size()); }
  [[nodiscard]] int credits(Rank, Lane) const override { return kSlots; }
  [[nodiscard]] Engine engine(Rank, Lane lane) const override {
    return lane % lanes_ == kNet ? Engine::kCopyEngine : Engine::kKernel;
  }
  [[nodiscard]] std::int64_t scratch(Rank) const override {
    std::int64_t elements = 0;
    for (const ChannelLoops& channel : channels_) elements += 2 * kSlots * channel.chunks.chunk;
    return elements;
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return channel(lane).loops() * each(rank, lane - lane % lanes_, lane % lanes_);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Lane role = lane % lanes_;
    const Lane base = lane - role;
    const std::int64_t of_loop = each(rank, base, role);
    Step step;
    role == kNet ? net(step, rank, base, index / of_loop, index % of_loop)
                 : inside(step, rank, base, role, index / of_loop, index % of_loop);
    return step;
  }

 protected:
  /// The number of the chunks that the rank is head of; -1: it is no head.
  [[nodiscard]] virtual int head(Rank rank, Lane base) const = 0;
  /// Steps of a lane for a loop. Those of kUp and kDown end the sending slot's making, and the receiving one's use.
  [[nodiscard]] virtual std::int64_t each_inside(Rank rank, Lane base, Lane role) const = 0;
  virtual void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop, std::int64_t part) const = 0;

  [[nodiscard]] Rank local(Rank rank) const { return rank % gpus_; }
  [[nodiscard]] Rank beside(Rank rank, int gpu) const { return rank - local(rank) + gpu; }
  [[nodiscard]] std::size_t number(Lane base) const { return static_cast<std::size_t>(base / lanes_); }
  [[nodiscard]] const ChannelLoops& channel(Lane lane) const { return channels_[number(lane)]; }
  [[nodiscard]] Range own(Rank rank, Lane base, std::int64_t loop) const {
    return channel(base).at(loop, head(rank, base));
  }
  [[nodiscard]] Range sending(Rank rank, Lane base, std::int64_t loop) const { return slot(rank, base, loop, 0); }
  [[nodiscard]] Range received(Rank rank, Lane base, std::int64_t loop) const { return slot(rank, base, loop, kSlots); }
  /// Until the slot to send can be written to: everyone is at the loop behind the one that had it.
  [[nodiscard]] Wait until_sent(Lane base, std::int64_t loop) const {
    if (loop < kSlots) return {};
    return {base + kNet, (loop - kSlots + 1) * each_net() + each_net() - 1};
  }
  [[nodiscard]] Wait until_received(Lane base, std::int64_t loop) const {
    return {base + kNet, (loop + 1) * each_net()};
  }

  std::int32_t n_;
  std::int32_t gpus_;
  std::int32_t nodes_;

 private:
  [[nodiscard]] std::int64_t each_net() const { return nodes_ + 1; }
  [[nodiscard]] std::int64_t each(Rank rank, Lane base, Lane role) const {
    if (role != kNet) return each_inside(rank, base, role);
    return head(rank, base) < 0 ? 0 : each_net();
  }
  [[nodiscard]] Range slot(Rank rank, Lane base, std::int64_t loop, std::int64_t first) const {
    std::int64_t offset = 0;
    for (std::size_t c = 0; c < number(base); ++c) offset += 2 * kSlots * channels_[c].chunks.chunk;
    offset += (first + loop % kSlots) * channel(base).chunks.chunk;
    return {Buffer::kScratch, offset, own(rank, base, loop).count};
  }

  /// Tells the other heads, hears from each of them, and has the switch add.
  void net(Step& step, Rank rank, Lane base, std::int64_t loop, std::int64_t part) const {
    step.group = {local(rank), nodes_, gpus_};
    if (part == 0) {
      step.kind = StepKind::kMulticast;  // a message without content
      step.source = {Buffer::kScratch, 0, 0};
      step.to = Peer::at(0, base + kNet);
      step.wait = {base + kUp, (loop + 1) * each_inside(rank, base, kUp)};
    } else if (part < nodes_) {
      const auto node = static_cast<Rank>(part - 1);
      step.kind = StepKind::kReceive;
      step.from = Peer::at((node < rank / gpus_ ? node : node + 1) * gpus_ + local(rank), base + kNet);
      step.target = {Buffer::kScratch, 0, 0};
    } else {
      step.kind = StepKind::kSwitchReduce;
      step.source = sending(rank, base, loop);
      step.target = received(rank, base, loop);
      if (loop >= kSlots) step.wait = {base + kDown, (loop - kSlots + 1) * each_inside(rank, base, kDown)};
    }
  }

  Lane lanes_;
  std::vector<ChannelLoops> channels_;
};

class Direct : public CollNet {
 public:
  Direct(const Communicator& comm, std::vector<ChannelLoops> channels)
      : CollNet(comm, std::move(channels), kGather + 1), heads_(collnet_heads(comm)) {
    index_.assign(static_cast<std::size_t>(gpus_), -1);
    for (std::size_t h = 0; h < heads_.size(); ++h) index_[static_cast<std::size_t>(heads_[h])] = static_cast<int>(h);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      const auto& orders = comm.graphs.collnet_direct.orders;
      std::vector<int>& below = below_.emplace_back();
      for (const int gpu : orders[h % orders.size()].gpus) {
        if (gpu != heads_[h]) below.push_back(gpu);
      }
    }
  }

 protected:
  [[nodiscard]] int head(Rank rank, Lane) const override { return index_[static_cast<std::size_t>(local(rank))]; }
  [[nodiscard]] std::int64_t each_inside(Rank rank, Lane base, Lane role) const override {
    const bool is_head = head(rank, base) >= 0;
    switch (role) {
      case kUp: return is_head ? std::max(1, gpus_ - 1) : 0;
      case kDown: return is_head ? gpus_ : 0;
      default: return others(rank);
    }
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop, std::int64_t part) const override {
    switch (role) {
      case kUp: return add_up(step, rank, base, loop, part);
      case kDown: return hand_out(step, rank, base, loop, part);
      default: break;
    }
    // Each begins with another head, so that not all are at one.
    const std::int64_t shift = local(rank) % std::ssize(heads_);
    int h = static_cast<int>((part + shift) % others(rank));
    if (head(rank, base) >= 0 && h >= head(rank, base)) ++h;
    const Rank peer = beside(rank, heads_[static_cast<std::size_t>(h)]);
    step.source = step.target = channel(base).at(loop, h);
    step.kind = role == kScatter ? StepKind::kSend : StepKind::kReceive;
    step.to = Peer::at(peer, base + kUp);
    step.from = Peer::at(peer, base + kDown);
  }

 private:
  [[nodiscard]] std::int64_t others(Rank rank) const { return std::ssize(heads_) - (head(rank, 0) >= 0 ? 1 : 0); }
  [[nodiscard]] Rank below(Rank rank, Lane base, std::int64_t number) const {
    return beside(rank, below_[static_cast<std::size_t>(head(rank, base))][static_cast<std::size_t>(number)]);
  }

  void add_up(Step& step, Rank rank, Lane base, std::int64_t loop, std::int64_t part) const {
    step.target = sending(rank, base, loop);
    step.source = part == 0 ? own(rank, base, loop) : step.target;
    if (part == 0) step.wait = until_sent(base, loop);
    step.kind = gpus_ == 1 ? StepKind::kCopy : StepKind::kReceiveReduce;
    if (gpus_ > 1) step.from = Peer::at(below(rank, base, part), base + kScatter);
  }

  void hand_out(Step& step, Rank rank, Lane base, std::int64_t loop, std::int64_t part) const {
    if (part == 0) {
      step.kind = StepKind::kCopy;
      step.source = received(rank, base, loop);
      step.target = own(rank, base, loop);
      step.wait = until_received(base, loop);
      return;
    }
    step.kind = StepKind::kSend;
    step.source = own(rank, base, loop);
    step.to = Peer::at(below(rank, base, part - 1), base + kGather);
  }

  std::vector<int> heads_;               ///< GPUs of a node
  std::vector<int> index_;               ///< by GPU: which head it is
  std::vector<std::vector<int>> below_;  ///< by head: the node's other GPUs
};

class Chain : public CollNet {
 public:
  Chain(const Communicator& comm, std::vector<ChannelLoops> channels)
      : CollNet(comm, std::move(channels), kDown + 1), orders_(comm.graphs.collnet_chain.orders) {
    for (const GraphChannel& order : orders_) {
      std::vector<int>& place = places_.emplace_back(order.gpus.size());
      for (std::size_t p = 0; p < order.gpus.size(); ++p)
        place[static_cast<std::size_t>(order.gpus[p])] = static_cast<int>(p);
    }
  }

 protected:
  [[nodiscard]] int head(Rank rank, Lane base) const override { return place(rank, base) == 0 ? 0 : -1; }
  [[nodiscard]] std::int64_t each_inside(Rank rank, Lane base, Lane role) const override {
    return role == kDown && place(rank, base) == 0 && gpus_ > 1 ? 2 : 1;
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop, std::int64_t part) const override {
    const int place = this->place(rank, base);
    const bool last = place + 1 == gpus_;
    step.source = step.target = channel(base).at(loop, 0);
    if (role == kUp) {
      if (place > 0) step.to = Peer::at(at(rank, base, place - 1), base + kUp);
      if (!last) step.from = Peer::at(at(rank, base, place + 1), base + kUp);
      step.kind = place > 0 ? (last ? StepKind::kSend : StepKind::kReceiveReduceSend)
                            : (last ? StepKind::kCopy : StepKind::kReceiveReduce);
      if (place > 0) return;
      step.target = sending(rank, base, loop);
      step.wait = until_sent(base, loop);
      return;
    }
    if (!last) step.to = Peer::at(at(rank, base, place + 1), base + kDown);
    if (place > 0) {
      step.from = Peer::at(at(rank, base, place - 1), base + kDown);
      step.kind = last ? StepKind::kReceive : StepKind::kReceiveSend;
      return;
    }
    step.kind = part == 0 ? StepKind::kCopy : StepKind::kSend;
    if (part > 0) return;
    step.source = received(rank, base, loop);
    step.wait = until_received(base, loop);
  }

 private:
  /// From the head on.
  [[nodiscard]] int place(Rank rank, Lane base) const {
    return places_[number(base) % places_.size()][static_cast<std::size_t>(local(rank))];
  }
  [[nodiscard]] Rank at(Rank rank, Lane base, int place) const {
    return beside(rank, orders_[number(base) % orders_.size()].gpus[static_cast<std::size_t>(place)]);
  }

  std::vector<GraphChannel> orders_;
  std::vector<std::vector<int>> places_;  ///< by order and GPU
};

}  // namespace

std::vector<int> collnet_heads(const Communicator& comm) {
  std::vector<int> heads;
  for (const GraphChannel& order : comm.graphs.collnet_direct.orders) {
    if (std::find(heads.begin(), heads.end(), order.gpus.front()) == heads.end()) heads.push_back(order.gpus.front());
  }
  return heads;
}

std::shared_ptr<const Schedule> lowered_collnet(const Communicator& comm, bool chain,
                                                std::vector<ChannelLoops> channels) {
  if (chain) return std::make_shared<Chain>(comm, std::move(channels));
  return std::make_shared<Direct>(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
