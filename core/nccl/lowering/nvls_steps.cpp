// NVLS: all-reduces in which the NVSwitch reduces and multicasts. A channel processes its data in
// loops. Each loop has one chunk per head; a head is a GPU that is in charge of such a chunk. All
// GPUs of a node signal to each other that their data is ready. Then head h lets the switch reduce
// chunk h of all GPUs of the node, and multicasts the sum. If there are several nodes (NVLSTree),
// the sum first travels up and down a tree of nodes, between GPUs with the same index. There are
// two trees of nodes: even channels use one, and odd channels use the other. Lanes of a channel:
// lane 0 signals and reduces, lane 1 receives the signals of the other GPUs, lane 2 sends up, lane
// 3 receives from above and multicasts, and lane 4 + h receives chunks of head h. If there is one
// node, lane 0 also multicasts.

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

constexpr Lane kSum = 0;
constexpr Lane kSignals = 1;
constexpr Lane kUp = 2;
constexpr Lane kDown = 3;
constexpr Lane kFirstHead = 4;

/// Returns the neighbours of every node in one of the two trees of nodes.
std::vector<TreePlace> tree_of_nodes(int nodes, bool second) {
  Graphs one;
  one.ring.channels = one.tree.channels = 1;
  one.ring.orders = one.tree.orders = {{{0}, {}}};
  one.tree.pattern = Pattern::kTree;
  return connect_channel(one, nodes, second ? 1 : 0).tree;
}

class Nvls : public Schedule {
 public:
  Nvls(const Communicator& comm, std::vector<ChannelLoops> channels)
      : n_(comm.ranks),
        gpus_(comm.ranks_of_node()),
        heads_(heads_of(comm)),
        channels_(std::move(channels)),
        trees_{tree_of_nodes(comm.nodes, false), tree_of_nodes(comm.nodes, true)} {}

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return of_channel() * static_cast<Lane>(channels_.size());
  }
  [[nodiscard]] int credits(Rank, Lane lane) const override {
    return lane % of_channel() == kSignals ? kUnlimitedCredits : channel(lane).chunks.slots;
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    const Lane role = lane % of_channel();
    const std::int64_t loops = is_head(rank) ? loops_of(lane) : 0;
    switch (role) {
      case kSum: return 1 + loops * (alone() ? 2 : 1);
      case kSignals: return gpus_ - 1;
      case kUp: return alone() ? 0 : loops * each_up(place(rank, lane));
      case kDown: return alone() ? 0 : loops * each_down(place(rank, lane));
      default: break;
    }
    return role - kFirstHead == local(rank) ? 0 : loops_of(lane);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Lane role = lane % of_channel();
    const Lane base = lane - role;
    Step step;
    step.group = {rank - local(rank), gpus_, 1};
    switch (role) {
      case kSum: sum(step, rank, base, index); break;
      case kSignals:
        step.kind = StepKind::kReceiveAny;
        step.target = {Buffer::kData, 0, 0};
        break;
      case kUp: up(step, rank, lane, index); break;
      case kDown: down(step, rank, lane, index); break;
      default:
        step.kind = StepKind::kReceive;
        step.from =
            Peer::at(rank - local(rank) + role - kFirstHead, base + (alone() ? kSum : kDown));
        step.target = chunk(lane, index, role - kFirstHead);
        break;
    }
    return step;
  }

 private:
  [[nodiscard]] bool alone() const { return n_ == gpus_; }
  [[nodiscard]] Lane of_channel() const { return kFirstHead + heads_; }
  [[nodiscard]] const ChannelLoops& channel(Lane lane) const {
    return channels_[lane / of_channel()];
  }
  [[nodiscard]] Rank local(Rank rank) const { return rank % gpus_; }
  [[nodiscard]] bool is_head(Rank rank) const { return local(rank) < heads_; }

  [[nodiscard]] std::int64_t loops_of(Lane lane) const { return channel(lane).loops(); }
  [[nodiscard]] Range chunk(Lane lane, std::int64_t loop, Rank head) const {
    return channel(lane).at(loop, head);
  }

  void multicast(Step& step, Rank rank, Lane base, const Range& range) const {
    step.kind = StepKind::kMulticast;
    step.source = range;
    step.to = Peer::at(0, base + kFirstHead + local(rank));
  }

  void sum(Step& step, Rank rank, Lane base, std::int64_t index) const {
    if (index == 0) {
      step.kind = StepKind::kMulticast;  // a message without content
      step.source = {Buffer::kData, 0, 0};
      step.to = Peer::at(0, base + kSignals);
      return;
    }
    const std::int64_t loop = alone() ? (index - 1) / 2 : index - 1;
    const Range range = chunk(base, loop, local(rank));
    if (alone() && index % 2 == 0) return multicast(step, rank, base, range);
    step.kind = StepKind::kSwitchReduce;
    step.source = step.target = range;
    if (index == 1) step.wait = {base + kSignals, gpus_ - 1};
  }

  // --- between nodes ---

  [[nodiscard]] const TreePlace& place(Rank rank, Lane lane) const {
    return trees_[lane / of_channel() % 2][rank / gpus_];
  }
  static std::int64_t each_up(const TreePlace& place) {
    return std::max<std::int64_t>(1, children(place));
  }
  /// Returns the number of steps per chunk on the way down. The last step is the multicast.
  static std::int64_t each_down(const TreePlace& place) {
    return 1 + (place.up < 0 ? children(place) : std::max<std::int64_t>(1, children(place)));
  }
  [[nodiscard]] Peer head_of(int node, Rank rank, Lane lane) const {
    return Peer::at(node * gpus_ + local(rank), lane);
  }

  void up(Step& step, Rank rank, Lane lane, std::int64_t index) const {
    const TreePlace& here = place(rank, lane);
    const std::int64_t each = each_up(here);
    const std::int64_t part = index % each;
    const std::int64_t loop = index / each;
    step.source = step.target = chunk(lane, loop, local(rank));
    if (part == 0) step.wait = {lane - kUp + kSum, 1 + loop + 1};
    if (here.up >= 0) step.to = head_of(here.up, rank, lane);
    if (children(here) == 0) {
      step.kind = StepKind::kSend;
      return;
    }
    step.from = head_of(here.down[part], rank, lane);
    step.kind =
        part + 1 == each && here.up >= 0 ? StepKind::kReceiveReduceSend : StepKind::kReceiveReduce;
  }

  void down(Step& step, Rank rank, Lane lane, std::int64_t index) const {
    const TreePlace& here = place(rank, lane);
    const std::int64_t each = each_down(here);
    const std::int64_t part = index % each;
    const std::int64_t loop = index / each;
    const Range range = chunk(lane, loop, local(rank));
    step.source = step.target = range;
    if (here.up < 0 && part == 0) step.wait = {lane - kDown + kUp, (loop + 1) * each_up(here)};
    if (part + 1 == each) return multicast(step, rank, lane - kDown, range);
    if (children(here) > 0) step.to = head_of(here.down[part], rank, lane);
    if (here.up >= 0) step.from = head_of(here.up, rank, lane);
    step.kind = here.up < 0 || part > 0 ? StepKind::kSend
                : children(here) == 0   ? StepKind::kReceive
                                        : StepKind::kReceiveSend;
  }

  std::int32_t n_;
  std::int32_t gpus_;
  std::int32_t heads_;
  std::vector<ChannelLoops> channels_;
  std::array<std::vector<TreePlace>, 2> trees_;
};

}  // namespace

std::shared_ptr<const Schedule> lowered_nvls(const Communicator& comm,
                                             std::vector<ChannelLoops> channels) {
  return std::make_shared<Nvls>(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
