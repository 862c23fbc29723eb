// Two lanes per channel: up and down, as a kernel's threads are divided. Chunk after chunk the ranks add what their children send to their own and send it up; the root
// sends sums down again, and everyone on. Half of the channels go along one tree of nodes, half along the other; inside a node every tree is a chain.

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

class Tree : public Schedule {
 public:
  Tree(const Communicator& comm, std::vector<ChannelLoops> channels) : n_(comm.ranks), channels_(std::move(channels)) {
    const int connected = connected_channels(comm.graphs);
    for (int c = 0; c < std::min(connected, static_cast<int>(channels_.size())); ++c)
      trees_.push_back(connect_channel(comm.graphs, comm.nodes, c, comm.version).tree);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 2 * static_cast<std::int32_t>(channels_.size()); }
  [[nodiscard]] int credits(Rank, Lane lane) const override { return channel(lane).chunks.slots; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return channel(lane).loops() * each(place(rank, lane), lane);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const TreePlace& here = place(rank, lane);
    const std::int64_t of_chunk = each(here, lane);
    Step step;
    step.source = step.target = channel(lane).at(index / of_chunk, 0);
    const auto part = static_cast<std::size_t>(index % of_chunk);
    is_up(lane) ? up(step, here, lane, part) : down(step, here, lane, part, rank, index / of_chunk);
    return step;
  }

 private:
  static bool is_up(Lane lane) { return lane % 2 == 0; }
  [[nodiscard]] const ChannelLoops& channel(Lane lane) const { return channels_[static_cast<std::size_t>(lane / 2)]; }
  [[nodiscard]] const TreePlace& place(Rank rank, Lane lane) const {
    return trees_[static_cast<std::size_t>(lane / 2) % trees_.size()][static_cast<std::size_t>(rank)];
  }
  /// Steps for a chunk.
  static std::int64_t each(const TreePlace& place, Lane lane) {
    const std::int64_t below = children(place);
    return !is_up(lane) && place.up < 0 ? below : std::max<std::int64_t>(1, below);
  }

  static void up(Step& step, const TreePlace& here, Lane lane, std::size_t part) {
    if (here.up >= 0) step.to = Peer::at(here.up, lane);
    const std::int64_t below = children(here);
    if (below == 0) {
      step.kind = StepKind::kSend;
      return;
    }
    step.from = Peer::at(here.down[part], lane);
    const bool passes_on = static_cast<std::int64_t>(part) + 1 == below && here.up >= 0;
    step.kind = passes_on ? StepKind::kReceiveReduceSend : StepKind::kReceiveReduce;
  }

  void down(Step& step, const TreePlace& here, Lane lane, std::size_t part, Rank rank, std::int64_t chunk) const {
    const std::int64_t below = children(here);
    if (below > 0) step.to = Peer::at(here.down[part], lane);
    if (here.up < 0) {
      step.kind = StepKind::kSend;
      step.wait = {lane - 1, (chunk + 1) * each(place(rank, lane - 1), lane - 1)};
      return;
    }
    step.from = Peer::at(here.up, lane);
    step.kind = part > 0 ? StepKind::kSend : below == 0 ? StepKind::kReceive : StepKind::kReceiveSend;
  }

  std::int32_t n_;
  std::vector<ChannelLoops> channels_;
  std::vector<std::vector<TreePlace>> trees_;  ///< by channel, until they repeat
};

}  // namespace

std::shared_ptr<const Schedule> lowered_tree(const Communicator& comm, std::vector<ChannelLoops> channels) {
  return std::make_shared<Tree>(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
