// All-reduces in which network switches reduce between nodes (SHARP). For each chunk, one GPU of
// each node is the head and reduces the chunk in its node. The network reduces the chunks of the
// heads with the same index in all nodes (collnet_schedule.h). Then the head distributes the sum in
// its node. CollNetDirect: every GPU sends chunk h of a loop to head h, and receives the sum of
// this chunk from head h. CollNetChain: a chunk travels along a chain of the node's GPUs to the
// first GPU of the chain, which is the head, and the sum travels back.
//
// Lanes of a channel: lane 0 reduces (sends up), lane 1 is the head's proxy, and lane 2 distributes
// (passes down). For CollNetDirect, lane 3 sends to the heads, and lane 4 receives from the heads.

#include "core/nccl/lowering/collnet_schedule.h"
#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

constexpr Lane kScatter = CollNet::kFirstOwn;
constexpr Lane kGather = kScatter + 1;

class Direct : public CollNet {
 public:
  Direct(const Communicator& comm, std::vector<ChannelLoops> channels)
      : CollNet(comm, std::move(channels), kGather + 1), heads_(collnet_heads(comm)) {
    index_.assign(gpus_, -1);
    for (std::size_t h = 0; h < heads_.size(); ++h) index_[heads_[h]] = static_cast<int>(h);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      const auto& orders = comm.graphs.collnet_direct.orders;
      std::vector<int>& below = below_.emplace_back();
      for (const int gpu : orders[h % orders.size()].gpus) {
        if (gpu != heads_[h]) below.push_back(gpu);
      }
    }
  }

 protected:
  [[nodiscard]] int head(Rank rank, Lane) const override { return index_[local(rank)]; }
  [[nodiscard]] std::int64_t each_inside(Rank rank, Lane base, Lane role) const override {
    const bool is_head = head(rank, base) >= 0;
    switch (role) {
      case kUp: return is_head ? std::max(1, gpus_ - 1) : 0;
      case kDown: return is_head ? gpus_ : 0;
      default: return others(rank);
    }
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop,
              std::int64_t part) const override {
    switch (role) {
      case kUp: return add_up(step, rank, base, loop, part);
      case kDown: return distribute_down(step, rank, base, loop, part);
      default: break;
    }
    // Each GPU begins with a different head, so that the GPUs do not all use the same head at the
    // same time.
    const std::int64_t shift = local(rank) % std::ssize(heads_);
    int h = static_cast<int>((part + shift) % others(rank));
    if (head(rank, base) >= 0 && h >= head(rank, base)) ++h;
    const Rank peer = beside(rank, heads_[h]);
    step.source = step.target = channel(base).at(loop, h);
    step.kind = role == kScatter ? StepKind::kSend : StepKind::kReceive;
    step.to = Peer::at(peer, base + kUp);
    step.from = Peer::at(peer, base + kDown);
  }

 private:
  [[nodiscard]] std::int64_t others(Rank rank) const {
    return std::ssize(heads_) - (head(rank, 0) >= 0 ? 1 : 0);
  }
  [[nodiscard]] Rank below(Rank rank, Lane base, std::int64_t number) const {
    return beside(rank, below_[head(rank, base)][number]);
  }

  void add_up(Step& step, Rank rank, Lane base, std::int64_t loop, std::int64_t part) const {
    step.target = sending(rank, base, loop);
    step.source = part == 0 ? own(rank, base, loop) : step.target;
    if (part == 0) step.wait = until_sent(base, loop);
    step.kind = gpus_ == 1 ? StepKind::kCopy : StepKind::kReceiveReduce;
    if (gpus_ > 1) step.from = Peer::at(below(rank, base, part), base + kScatter);
  }

  void distribute_down(Step& step, Rank rank, Lane base, std::int64_t loop,
                       std::int64_t part) const {
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

  std::vector<int> heads_;               ///< GPUs of a node that are heads
  std::vector<int> index_;               ///< index of each GPU among the heads; -1: the GPU is not
                                         ///< a head
  std::vector<std::vector<int>> below_;  ///< for each head, the other GPUs of its node
};

class Chain : public CollNet {
 public:
  Chain(const Communicator& comm, std::vector<ChannelLoops> channels)
      : CollNet(comm, std::move(channels), kDown + 1), orders_(comm.graphs.collnet_chain.orders) {
    for (const GraphChannel& order : orders_) {
      std::vector<int>& place = places_.emplace_back(order.gpus.size());
      for (std::size_t p = 0; p < order.gpus.size(); ++p)
        place[order.gpus[p]] = static_cast<int>(p);
    }
  }

 protected:
  [[nodiscard]] int head(Rank rank, Lane base) const override {
    return place(rank, base) == 0 ? 0 : -1;
  }
  [[nodiscard]] std::int64_t each_inside(Rank rank, Lane base, Lane role) const override {
    return role == kDown && place(rank, base) == 0 && gpus_ > 1 ? 2 : 1;
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop,
              std::int64_t part) const override {
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
  /// Returns the GPU's position in the chain. The head has position 0.
  [[nodiscard]] int place(Rank rank, Lane base) const {
    return places_[number(base) % places_.size()][local(rank)];
  }
  [[nodiscard]] Rank at(Rank rank, Lane base, int place) const {
    return beside(rank, orders_[number(base) % orders_.size()].gpus[place]);
  }

  std::vector<GraphChannel> orders_;
  std::vector<std::vector<int>> places_;  ///< for each order of GPUs and each GPU: its position in
                                          ///< the chain
};

}  // namespace

std::vector<int> collnet_heads(const Communicator& comm) {
  std::vector<int> heads;
  for (const GraphChannel& order : comm.graphs.collnet_direct.orders) {
    if (std::find(heads.begin(), heads.end(), order.gpus.front()) == heads.end())
      heads.push_back(order.gpus.front());
  }
  return heads;
}

std::shared_ptr<const Schedule> lowered_collnet(const Communicator& comm, bool chain,
                                                std::vector<ChannelLoops> channels) {
  if (chain) return std::make_shared<Chain>(comm, std::move(channels));
  return std::make_shared<Direct>(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
