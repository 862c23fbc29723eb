// NVLS between nodes. In each node, the switch reduces chunk h of all GPUs for head h. The network
// reduces the chunks of the heads with the same index in all nodes (collnet_schedule.h). Then the
// head multicasts the sum in its node. Before the first reduction, all GPUs of a node signal to
// each other that their data is ready. Lanes of a channel: lane 0 reduces, lane 1 is the head's
// proxy, lane 2 multicasts, lane 3 sends and receives signals, and lane 4 + h receives chunks of
// head h.

#include "core/nccl/lowering/collnet_schedule.h"
#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

constexpr Lane kSharpSignals = CollNet::kFirstOwn;
constexpr Lane kFirstSharpHead = kSharpSignals + 1;

class NvlsSharp : public CollNet {
 public:
  NvlsSharp(const Communicator& comm, std::vector<ChannelLoops> channels)
      : CollNet(comm, std::move(channels), kFirstSharpHead + heads_of(comm)),
        heads_(heads_of(comm)) {}

  [[nodiscard]] int credits(Rank rank, Lane lane) const override {
    return role(lane) == kSharpSignals ? kUnlimitedCredits : CollNet::credits(rank, lane);
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return role(lane) == kSharpSignals ? gpus_ : CollNet::steps(rank, lane);
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (role(lane) != kSharpSignals) return CollNet::step(rank, lane, index);
    return signal(node_of(rank), lane, index);
  }

 protected:
  [[nodiscard]] int head(Rank rank, Lane) const override {
    return local(rank) < heads_ ? local(rank) : -1;
  }
  [[nodiscard]] std::int64_t each_inside(Rank rank, Lane base, Lane role) const override {
    if (role >= kFirstSharpHead) return role - kFirstSharpHead == local(rank) ? 0 : 1;
    if (head(rank, base) < 0) return 0;
    return role == kUp ? 1 : 2;
  }

  void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop,
              std::int64_t part) const override {
    step.group = node_of(rank);
    if (role >= kFirstSharpHead) {
      step.kind = StepKind::kReceive;
      step.from = Peer::at(beside(rank, role - kFirstSharpHead), base + kDown);
      step.target = channel(base).at(loop, role - kFirstSharpHead);
    } else if (role == kUp) {
      step.kind = StepKind::kSwitchReduce;
      step.source = own(rank, base, loop);
      step.target = sending(rank, base, loop);
      step.wait = loop == 0 ? Wait{base + kSharpSignals, gpus_} : until_sent(base, loop);
    } else if (part == 0) {
      step.kind = StepKind::kCopy;
      step.source = received(rank, base, loop);
      step.target = own(rank, base, loop);
      step.wait = until_received(base, loop);
    } else {
      step.kind = StepKind::kMulticast;
      step.source = own(rank, base, loop);
      step.to = Peer::at(0, base + kFirstSharpHead + local(rank));
    }
  }

 private:
  std::int32_t heads_;
};

}  // namespace

Step signal(const RankSet& node, Lane lane, std::int64_t index) {
  Step step;
  step.group = node;
  step.kind =
      index == 0 ? StepKind::kMulticast : StepKind::kReceiveAny;  // messages without content
  step.source = step.target = {Buffer::kData, 0, 0};
  step.to = Peer::at(0, lane);
  return step;
}

std::shared_ptr<const Schedule> lowered_nvls_sharp(const Communicator& comm,
                                                   std::vector<ChannelLoops> channels) {
  return std::make_shared<NvlsSharp>(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
