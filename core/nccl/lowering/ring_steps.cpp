// Each channel has one lane, which processes the channel's part of the data in loops. In an
// all-reduce, a loop has n chunks, and the rank at position p first sends chunk p - 1. Then it adds
// its own contribution to received chunks and forwards them, completes chunk p, and forwards
// complete chunks. (Before 2.10, chunks are numbered by rank, not by position.) In an all-gather
// and a reduce-scatter, a loop has one chunk of every rank's block. In a broadcast and a reduce, a
// loop is one chunk, which travels along the chain from the root (broadcast) or to the root
// (reduce). The chunk that a primitive (a receive, a send or both) handles is divided into slices.
// Each slice is a message. The chunks of the last loop divide the remainder into n equal parts,
// rounded up to 16 bytes. Chunks after the end of the remainder are empty, but ranks send them,
// too.

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

class Ring : public Schedule {
 public:
  Ring(const Communicator& comm, CollectiveKind kind, Rank root, std::int64_t elements,
       std::vector<ChannelLoops> channels)
      : n_(comm.ranks),
        kind_(kind),
        root_(root),
        by_rank_(comm.version < Version{2, 10, 0}),
        block_(has_blocks(kind) ? elements / comm.ranks : 0),
        channels_(std::move(channels)) {
    const int connected = connected_channels(comm.graphs);
    for (int c = 0; c < std::min(connected, static_cast<int>(channels_.size())); ++c) {
      Order& order = orders_.emplace_back();
      order.ranks = connect_channel(comm.graphs, comm.nodes, c, comm.version).ring;
      order.position.resize(order.ranks.size());
      for (std::size_t p = 0; p < order.ranks.size(); ++p)
        order.position[order.ranks[p]] = static_cast<std::int64_t>(p);
    }
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return static_cast<std::int32_t>(channels_.size());
  }
  [[nodiscard]] int credits(Rank, Lane lane) const override { return channel(lane).chunks.slots; }

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    return channel(lane).loops() * primitives() * slices(lane);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const std::int64_t in_slices = slices(lane);
    const std::int64_t slice = index % in_slices;
    const std::int64_t primitive = index / in_slices % primitives();
    const std::int64_t loop = index / in_slices / primitives();
    const Order& order = orders_[static_cast<std::size_t>(lane) % orders_.size()];
    const std::int64_t p = order.position[rank];
    Step step;
    step.from = Peer::at(at(order, p - 1), lane);
    step.to = Peer::at(at(order, p + 1), lane);
    if (kind_ == CollectiveKind::kBroadcast || kind_ == CollectiveKind::kReduce) {
      along(step, p - order.position[root_]);
      step.source = step.target = cut(channel(lane).at(loop, 0), slice, lane);
      return step;
    }
    step.kind = kind_of(primitive);
    const std::int64_t whose = p - distance(primitive);
    const Range chunk = kind_ == CollectiveKind::kAllReduce
                            ? channel(lane).at(loop, by_rank_ ? at(order, whose) : modulo(whose))
                            : of_block(channel(lane).at(loop, 0), at(order, whose));
    step.source = step.target = cut(chunk, slice, lane);
    return step;
  }

 private:
  struct Order {
    std::vector<int> ranks;
    std::vector<std::int64_t> position;  ///< position of each rank
  };

  [[nodiscard]] const ChannelLoops& channel(Lane lane) const { return channels_[lane]; }
  [[nodiscard]] std::int64_t modulo(std::int64_t p) const { return (p % n_ + n_) % n_; }
  [[nodiscard]] Rank at(const Order& order, std::int64_t p) const { return order.ranks[modulo(p)]; }

  // --- primitives of a loop ---

  [[nodiscard]] std::int64_t primitives() const {
    switch (kind_) {
      case CollectiveKind::kAllReduce: return 2 * std::int64_t{n_} - 1;
      case CollectiveKind::kAllGather:
      case CollectiveKind::kReduceScatter: return n_;
      default: return 1;
    }
  }

  /// Returns the distance, in ring positions, back to the rank whose chunk or block the primitive
  /// handles.
  [[nodiscard]] std::int64_t distance(std::int64_t primitive) const {
    switch (kind_) {
      case CollectiveKind::kReduceScatter: return primitive + 1;
      case CollectiveKind::kAllReduce: return primitive < n_ ? primitive + 1 : primitive - n_ + 1;
      default: return primitive;
    }
  }

  [[nodiscard]] StepKind kind_of(std::int64_t primitive) const {
    const bool last = primitive + 1 == primitives();
    if (primitive == 0) return StepKind::kSend;
    switch (kind_) {
      case CollectiveKind::kAllGather: return last ? StepKind::kReceive : StepKind::kReceiveSend;
      case CollectiveKind::kReduceScatter:
        return last ? StepKind::kReceiveReduce : StepKind::kReceiveReduceSend;
      default: break;
    }
    if (primitive < n_ - 1) return StepKind::kReceiveReduceSend;
    if (primitive == n_ - 1) return StepKind::kReceiveReduceCopySend;
    return last ? StepKind::kReceive : StepKind::kReceiveSend;
  }

  /// Sets the kind of a step of a broadcast or reduce. `behind` is the number of positions between
  /// the root and the rank.
  void along(Step& step, std::int64_t behind) const {
    const std::int64_t place = modulo(behind);
    if (kind_ == CollectiveKind::kBroadcast) {
      step.kind = place == 0        ? StepKind::kSend
                  : place == n_ - 1 ? StepKind::kReceive
                                    : StepKind::kReceiveSend;
    } else {
      step.kind = place == 1 % n_ ? StepKind::kSend
                  : place == 0    ? StepKind::kReceiveReduce
                                  : StepKind::kReceiveReduceSend;
    }
  }

  // --- buffer ranges ---

  [[nodiscard]] std::int64_t slices(Lane lane) const {
    const Chunks& chunks = channel(lane).chunks;
    return (chunks.chunk + chunks.slice - 1) / chunks.slice;
  }

  [[nodiscard]] Range of_block(Range range, Rank rank) const {
    range.offset += rank * block_;
    return range;
  }
  /// Returns the range of a slice of a chunk. All slices have the same size, a multiple of 16
  /// elements and at least 1/32 of the maximum slice. The last slice has the remainder, which may
  /// be empty.
  [[nodiscard]] Range cut(const Range& chunk, std::int64_t slice, Lane lane) const {
    const std::int64_t each = 16 * slices(lane);
    const std::int64_t size =
        std::max((chunk.count + each - 1) / each * 16, channel(lane).chunks.slice / 32);
    const std::int64_t offset = std::min(chunk.count, slice * size);
    return {chunk.buffer, chunk.offset + offset, std::min(size, chunk.count - offset)};
  }

  std::int32_t n_;
  CollectiveKind kind_;
  Rank root_;
  bool by_rank_;  ///< true: the chunks of an all-reduce are numbered by rank; false: by position in
                  ///< the ring
  std::int64_t block_;
  std::vector<ChannelLoops> channels_;
  std::vector<Order> orders_;
};

}  // namespace

std::shared_ptr<const Schedule> lowered_ring(const Communicator& comm, CollectiveKind kind,
                                             Rank root, std::int64_t elements,
                                             std::vector<ChannelLoops> channels) {
  return std::make_shared<Ring>(comm, kind, root, elements, std::move(channels));
}

}  // namespace tutti::core::nccl
