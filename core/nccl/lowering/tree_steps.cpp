// Each rank adds the data of its children to its own data and sends the sum up, chunk by chunk. The
// root sends sums down, and every rank forwards them. There are two trees of nodes, each of which
// half of the channels use. Inside a node, every tree is a chain. The threads of a channel are
// divided between an up lane and a down lane, except at the root. The root has a single lane, which
// reduces a chunk of all children and sends the sum down before it starts the next chunk. Before
// 2.10, Simple and LL do not divide the threads: one lane first sends all chunks up and then sends
// all chunks down.

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

class Tree : public Schedule {
 public:
  Tree(const Communicator& comm, bool divided, std::vector<ChannelLoops> channels)
      : n_(comm.ranks), divided_(divided), channels_(std::move(channels)) {
    const int connected = connected_channels(comm.graphs);
    for (int c = 0; c < std::min(connected, static_cast<int>(channels_.size())); ++c)
      trees_.push_back(connect_channel(comm.graphs, comm.nodes, c, comm.version).tree);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return of_channel() * static_cast<std::int32_t>(channels_.size());
  }
  [[nodiscard]] int credits(Rank, Lane lane) const override { return channel(lane).chunks.slots; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    const TreePlace& here = place(rank, lane);
    const std::int64_t chunks = channel(lane).loops();
    if (!divided_) return chunks * (each_up(here) + each_down(here));
    if (is_root(here)) return is_up(lane) ? chunks * (each_up(here) + each_down(here)) : 0;
    return chunks * (is_up(lane) ? each_up(here) : each_down(here));
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const TreePlace& here = place(rank, lane);
    if (divided_ && is_root(here)) {
      const std::int64_t of_chunk = each_up(here) + each_down(here);
      const std::int64_t chunk = index / of_chunk;
      const std::int64_t part = index % of_chunk;
      return part < each_up(here) ? up(here, lane, chunk, part)
                                  : down(here, lane, chunk, part - each_up(here));
    }
    const std::int64_t before = divided_ ? 0 : channel(lane).loops() * each_up(here);
    const bool goes_up = divided_ ? is_up(lane) : index < before;
    if (goes_up) return up(here, lane, index / each_up(here), index % each_up(here));
    return down(here, lane, (index - before) / each_down(here), (index - before) % each_down(here));
  }

 private:
  [[nodiscard]] Lane of_channel() const { return divided_ ? 2 : 1; }
  /// True if the lane reduces towards the root. REQUIRES: the threads of channels are divided.
  static bool is_up(Lane lane) { return lane % 2 == 0; }
  static bool is_root(const TreePlace& place) { return place.up < 0; }
  [[nodiscard]] std::size_t index(Lane lane) const {
    return static_cast<std::size_t>(lane / of_channel());
  }
  [[nodiscard]] const ChannelLoops& channel(Lane lane) const { return channels_[index(lane)]; }
  [[nodiscard]] const TreePlace& place(Rank rank, Lane lane) const {
    return trees_[index(lane) % trees_.size()][rank];
  }

  static std::int64_t each_up(const TreePlace& place) {
    return std::max<std::int64_t>(1, children(place));
  }
  static std::int64_t each_down(const TreePlace& place) {
    return is_root(place) ? children(place) : std::max<std::int64_t>(1, children(place));
  }

  [[nodiscard]] Step up(const TreePlace& here, Lane lane, std::int64_t chunk,
                        std::int64_t part) const {
    Step step;
    step.source = step.target = channel(lane).at(chunk, 0);
    step.kind = StepKind::kSend;
    if (!is_root(here)) step.to = Peer::at(here.up, lane);
    if (children(here) == 0) return step;
    step.from = Peer::at(here.down[part], lane);
    const bool passes_on = part + 1 == each_up(here) && !is_root(here);
    step.kind = passes_on ? StepKind::kReceiveReduceSend : StepKind::kReceiveReduce;
    return step;
  }

  [[nodiscard]] Step down(const TreePlace& here, Lane lane, std::int64_t chunk,
                          std::int64_t part) const {
    Step step;
    step.source = step.target = channel(lane).at(chunk, 0);
    step.kind = StepKind::kSend;
    if (children(here) > 0) step.to = Peer::at(here.down[part], lane_of_child(lane));
    if (is_root(here)) return step;
    step.from = Peer::at(here.up, lane_of_parent(here, lane));
    if (part == 0) step.kind = children(here) == 0 ? StepKind::kReceive : StepKind::kReceiveSend;
    return step;
  }

  /// Returns the lane on which a child receives the broadcast.
  [[nodiscard]] Lane lane_of_child(Lane lane) const { return divided_ ? lane / 2 * 2 + 1 : lane; }
  [[nodiscard]] Lane lane_of_parent(const TreePlace& here, Lane lane) const {
    return divided_ && is_root(place(here.up, lane)) ? lane - 1 : lane;
  }

  std::int32_t n_;
  bool divided_;
  std::vector<ChannelLoops> channels_;
  std::vector<std::vector<TreePlace>> trees_;  ///< the trees of the first channels, at most
                                               ///< connected_channels(); the other channels
                                               ///< repeat these trees in order
};

}  // namespace

std::shared_ptr<const Schedule> lowered_tree(const Communicator& comm, bool divided,
                                             std::vector<ChannelLoops> channels) {
  return std::make_shared<Tree>(comm, divided, std::move(channels));
}

}  // namespace tutti::core::nccl
