// The schedule of the sends and receives of a group, which one kernel executes. In each round
// (p2p_rounds.h), a rank sends a message to one peer and receives a message from another. Each
// message is divided into parts, and each part uses its own channel. The thread block of a channel
// processes its parts in batches (p2p_batches.h). A batch has up to eight rounds, which run at the
// same time. For each round, some warps send and other warps receive. The next batch begins when
// all rounds of the batch are complete.
//
// Lanes of a rank: the lanes of channel 0, the lanes of channel 1, …, and finally the rank's
// relays. A channel's first lane is its gate, which signals that a batch is complete. Then there
// are pairs of lanes, one that sends and one that receives. The k-th pair handles the k-th send and
// the k-th receive of each batch. With PXN, data for another node is first sent to the GPU next to
// the card on the receiver's rail. The proxy of this GPU, the relay, forwards the data. There is
// one relay lane for each sending lane that has data to relay, so that no message waits for
// messages of other lanes.

#include <map>
#include <unordered_map>

#include "core/nccl/lowering/p2p_batches.h"
#include "core/nccl/lowering/p2p_portions.h"
#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

/// A part of a round's message, and the range of a lane's steps that transfer it.
struct Piece {
  int round = 0;
  int part = 0;
  int batch = 0;
  std::int64_t first = 0;  ///< the lane's steps [first, end) transfer the part
  std::int64_t end = 0;
};
using Pieces = std::vector<Piece>;

const Piece& piece_of(const Pieces& pieces, std::int64_t step) {
  return *std::prev(
      std::upper_bound(pieces.begin(), pieces.end(), step,
                       [](std::int64_t at, const Piece& piece) { return at < piece.first; }));
}
std::int64_t steps_of(const Pieces& pieces) { return pieces.empty() ? 0 : pieces.back().end; }

/// The gate lane of a channel, at which a batch waits for the previous batch.
struct Gate {
  std::vector<Wait> waits;            ///< the steps of the gate lane, each of which is a wait
  std::vector<std::int64_t> through;  ///< for each batch: the number of waits after which the batch
                                      ///< is complete
};

/// The work of a rank's kernel, which is identical for all ranks of a class. Lanes and channels
/// without work are omitted.
struct Kernel {
  std::map<Lane, Pieces> lanes;
  std::map<int, Gate> gates;  ///< gate of each channel
  /// For each part that is sent or received, identified by key(): its index in the batch.
  std::unordered_map<std::int64_t, int> sends, receives;

  [[nodiscard]] const Pieces& pieces(Lane lane) const {
    static const Pieces kNone;
    const auto found = lanes.find(lane);
    return found == lanes.end() ? kNone : found->second;
  }
  [[nodiscard]] const Gate& gate(int channel) const {
    static const Gate kOpen;
    const auto found = gates.find(channel);
    return found == gates.end() ? kOpen : found->second;
  }
};

/// The messages that a rank forwards for other ranks of its node (PXN).
struct Relays {
  struct Lane {
    int source = 0;          ///< the GPU, in the same node, for which this lane forwards messages
    core::Lane sending = 0;  ///< the lane of the source GPU that sends the messages to this lane
    Pieces pieces;
  };
  std::vector<Lane> lanes;
  std::map<std::pair<int, core::Lane>, int> index;
};

class Sends : public Schedule {
 public:
  Sends(const Communicator& comm, const LoweringRequest& request)
      : n_(comm.ranks),
        gpus_(comm.ranks_of_node()),
        contract_(Contract::of(request.kind, comm.ranks, request.elements, request.root,
                               !can_be_in_place(request.kind))),
        p2p_(comm.p2p),
        version_(comm.version),
        rounds_(comm),
        count_(contract_.block()),
        item_(size_of(request.type).count()) {
    const std::int64_t blocks = has_blocks(request.kind) ? n_ : 1;
    planned_ = std::max(request.planned, request.elements) / blocks;
    near_ = p2p_portions(comm, planned_ * item_, false, false);
    far_ = p2p_portions(comm, planned_ * item_, true, false);
    self_ = p2p_portions(comm, planned_ * item_, false, true);
    assign_channels();
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return own_lanes() + static_cast<std::int32_t>(relays(rank).lanes.size());
  }
  [[nodiscard]] int credits(Rank, Lane) const override { return kSlots; }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return std::ssize(relays(rank).lanes) * largest_far_chunk();
  }
  [[nodiscard]] Engine engine(Rank, Lane lane) const override {
    return lane < own_lanes() ? Engine::kKernel : Engine::kCopyEngine;
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (lane >= own_lanes()) return steps_of(relay(rank, lane).pieces);
    if (lane % of_channel() == 0) return std::ssize(gate(rank, lane).waits);
    return steps_of(kernel(rank).pieces(lane));
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step;
    if (lane >= own_lanes()) {
      relay_on(step, rank, lane, index);
      return step;
    }
    const Lane role = lane % of_channel();
    if (role == 0) {
      step.wait = gate(rank, lane).waits[index];
      return step;
    }
    const Piece& piece = piece_of(kernel(rank).pieces(lane), index);
    if (index == piece.first && piece.batch > 0)
      step.wait = {lane - role, gate(rank, lane).through[piece.batch - 1]};
    role % 2 == 1 ? send(step, rank, lane, piece, index - piece.first)
                  : receive(step, rank, piece, index - piece.first);
    return step;
  }

 private:
  // --- lanes ---

  [[nodiscard]] Lane of_channel() const { return 1 + 2 * width_; }
  [[nodiscard]] Lane own_lanes() const { return p2p_.channels * of_channel(); }
  /// In an all-to-all, ranks that have the same index in their nodes have identical steps.
  [[nodiscard]] std::size_t class_of(Rank rank) const {
    return static_cast<std::size_t>(contract_.kind == CollectiveKind::kAllToAll ? rank % gpus_
                                                                                : rank);
  }
  [[nodiscard]] const Kernel& kernel(Rank rank) const { return kernels_[class_of(rank)]; }
  [[nodiscard]] const Relays& relays(Rank rank) const { return relays_[class_of(rank)]; }
  [[nodiscard]] const Relays::Lane& relay(Rank rank, Lane lane) const {
    return relays(rank).lanes[lane - own_lanes()];
  }
  [[nodiscard]] const Gate& gate(Rank rank, Lane lane) const {
    return kernel(rank).gate(lane / of_channel());
  }
  static std::int64_t key(int round, int part) { return std::int64_t{round} * 64 + part; }
  [[nodiscard]] Lane sending_lane(Rank rank, int round, int part) const {
    return rounds_.channel(rank, rounds_.sends_to(rank, round), part) * of_channel() + 1 +
           2 * kernel(rank).sends.at(key(round, part));
  }
  [[nodiscard]] Lane receiving_lane(Rank rank, int round, int part) const {
    return rounds_.channel(rounds_.receives_from(rank, round), rank, part) * of_channel() + 2 +
           2 * kernel(rank).receives.at(key(round, part));
  }

  // --- messages ---

  [[nodiscard]] bool far(Rank a, Rank b) const { return a / gpus_ != b / gpus_; }
  [[nodiscard]] const P2pPortions& portions(Rank from, Rank to) const {
    return from == to ? self_ : far(from, to) ? far_ : near_;
  }
  /// True if rank `from` has data for rank `to` that is not already at its final position.
  [[nodiscard]] bool exchanges(Rank from, Rank to) const {
    return (from != to || contract_.input_shift > 0) && contract_.part(from, to).has_value();
  }
  /// Returns the rank whose network card sends a message of `from` to another node. Without PXN, or
  /// inside a node, this is `from` itself.
  [[nodiscard]] Rank leaves_by(Rank from, Rank to) const {
    return far(from, to) ? from - from % gpus_ + p2p_.relay(from % gpus_, to % gpus_) : from;
  }
  /// Returns the rounds in which the rank communicates, in ascending order.
  [[nodiscard]] std::vector<int> rounds_of(Rank rank) const {
    std::vector<int> rounds;
    const Rank root = contract_.kind == CollectiveKind::kSendReceive ? -1 : contract_.root();
    if (contract_.kind == CollectiveKind::kAllToAll || rank == root) {
      for (int round = 0; round < rounds_.rounds(); ++round) rounds.push_back(round);
    } else if (contract_.kind == CollectiveKind::kSendReceive) {
      rounds = {rounds_.round_of(rank, (rank + 1) % n_),
                rounds_.round_of((rank + n_ - 1) % n_, rank)};
    } else {
      rounds = {contract_.kind == CollectiveKind::kGather ? rounds_.round_of(rank, root)
                                                          : rounds_.round_of(root, rank)};
    }
    std::sort(rounds.begin(), rounds.end());
    rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
    return rounds;
  }

  // --- portions, in elements ---

  [[nodiscard]] std::int64_t chunk(const P2pPortions& portions, int number) const {
    const std::int64_t bytes = number + 1 == portions.parts ? portions.last_chunk : portions.chunk;
    if (count_ == planned_) return bytes / item_;
    return std::max<std::int64_t>(1, bytes / item_ * count_ / planned_);
  }
  [[nodiscard]] std::int64_t largest_far_chunk() const {
    return std::max(chunk(far_, 0), chunk(far_, far_.parts - 1));
  }
  /// Returns the range of a part, relative to the start of the message. The caller adds the
  /// message's offset in the buffer.
  [[nodiscard]] Range part(const P2pPortions& portions, int number) const {
    if (count_ != planned_) {
      const EvenCut cut{count_, portions.parts};
      return {Buffer::kData, cut.offset(number), cut.size(number)};
    }
    const P2pPortions::Bounds bytes = portions.bounds(count_ * item_, number);
    return {Buffer::kData, bytes.begin / item_, (bytes.end - bytes.begin) / item_};
  }
  [[nodiscard]] std::int64_t chunks(const P2pPortions& portions, int number) const {
    const std::int64_t each = chunk(portions, number);
    return std::max<std::int64_t>(1, (part(portions, number).count + each - 1) / each);
  }
  [[nodiscard]] Range chunk_of(Rank from, Rank to, int number, std::int64_t index) const {
    const P2pPortions& of = portions(from, to);
    const Range whole = part(of, number);
    const std::int64_t begin = index * chunk(of, number);
    return {Buffer::kData, whole.offset + begin, std::min(chunk(of, number), whole.count - begin)};
  }
  static Range moved(Range range, std::int64_t by) {
    range.offset += by;
    return range;
  }

  // --- steps ---

  void send(Step& step, Rank rank, Lane lane, const Piece& piece, std::int64_t index) const {
    const Rank to = rounds_.sends_to(rank, piece.round);
    const Contract::Part where = *contract_.part(rank, to);
    if (to == rank) {
      const Range range = part(self_, piece.part);
      step.kind = StepKind::kCopy;
      step.source = moved(range, where.source.offset + contract_.input_shift);
      step.target = moved(range, where.target.offset);
      return;
    }
    step.kind = StepKind::kSend;
    step.source =
        moved(chunk_of(rank, to, piece.part, index), where.source.offset + contract_.input_shift);
    const Rank by = leaves_by(rank, to);
    step.to = by == rank ? Peer::at(to, receiving_lane(to, piece.round, piece.part))
                         : relay_peer(by, rank, lane);
  }

  void receive(Step& step, Rank rank, const Piece& piece, std::int64_t index) const {
    const Rank from = rounds_.receives_from(rank, piece.round);
    step.kind = StepKind::kReceive;
    step.target =
        moved(chunk_of(from, rank, piece.part, index), contract_.part(from, rank)->target.offset);
    const Lane lane = sending_lane(from, piece.round, piece.part);
    const Rank by = leaves_by(from, rank);
    step.from = by == from ? Peer::at(from, lane) : relay_peer(by, from, lane);
  }

  [[nodiscard]] Peer relay_peer(Rank by, Rank source, Lane sending) const {
    return Peer::at(by, own_lanes() + relays(by).index.at({source % gpus_, sending}));
  }

  void relay_on(Step& step, Rank rank, Lane lane, std::int64_t index) const {
    const Relays::Lane& of = relay(rank, lane);
    const Piece& piece = piece_of(of.pieces, index);
    const Rank source = rank - rank % gpus_ + of.source;
    const Rank to = rounds_.sends_to(source, piece.round);
    step.kind = StepKind::kReceiveSend;
    step.from = Peer::at(source, of.sending);
    step.to = Peer::at(to, receiving_lane(to, piece.round, piece.part));
    step.target = {Buffer::kScratch, (lane - own_lanes()) * largest_far_chunk(),
                   chunk_of(source, to, piece.part, index - piece.first).count};
    step.source = step.target;
  }

  // --- channel assignment ---

  void assign_channels() {
    const Rank classes = contract_.kind == CollectiveKind::kAllToAll ? gpus_ : n_;
    kernels_.resize(classes);
    relays_.resize(classes);
    // Assign all parts to batches first, because the number of lanes per channel depends on the
    // largest batch.
    std::vector<std::vector<P2pAssignment>> assigned;
    const P2pParts parts = [this](Rank from, Rank to) {
      return exchanges(from, to) ? portions(from, to).parts : 0;
    };
    for (Rank rank = 0; rank < classes; ++rank) {
      assigned.push_back(p2p_batches(rounds_, version_, rank, rounds_of(rank), parts));
      for (const P2pAssignment& one : assigned.back()) width_ = std::max(width_, one.place + 1);
    }
    for (Rank rank = 0; rank < classes; ++rank) lay_out(rank, assigned[rank]);
    for (Rank rank = 0; rank < classes; ++rank) find_relays(rank);
  }

  void lay_out(Rank rank, const std::vector<P2pAssignment>& assigned) {
    Kernel& made = kernels_[rank];
    const auto add = [&](Lane lane, const P2pAssignment& one, std::int64_t steps) {
      Pieces& pieces = made.lanes[lane];
      const std::int64_t first = steps_of(pieces);
      pieces.push_back({one.round, one.part, one.batch, first, first + steps});
    };
    for (const P2pAssignment& one : assigned) {
      (one.sends ? made.sends : made.receives)[key(one.round, one.part)] = one.place;
      const Rank peer =
          one.sends ? rounds_.sends_to(rank, one.round) : rounds_.receives_from(rank, one.round);
      if (peer == rank && !one.sends) continue;  // the sending lane makes the copy
      const Lane lane = one.channel * of_channel() + (one.sends ? 1 : 2) + 2 * one.place;
      add(lane, one,
          peer == rank ? 1
                       : chunks(one.sends ? portions(rank, peer) : portions(peer, rank), one.part));
    }
    for (int c = 0; c < p2p_.channels; ++c) close_gates(made, c);
  }

  /// Makes each batch wait until all lanes of the previous batch are complete. No lane waits for
  /// the last batch of a channel.
  void close_gates(Kernel& made, int channel) const {
    const Lane gate = channel * of_channel();
    std::map<int, std::vector<Wait>> of_batch;
    for (auto lane = made.lanes.upper_bound(gate);
         lane != made.lanes.lower_bound(gate + of_channel()); ++lane) {
      for (const Piece& piece : lane->second)
        of_batch[piece.batch].push_back({lane->first, piece.end});
    }
    if (of_batch.size() < 2) return;
    of_batch.erase(std::prev(of_batch.end()));
    Gate& to = made.gates[channel];
    for (const auto& [batch, waits] : of_batch) {
      to.waits.insert(to.waits.end(), waits.begin(), waits.end());
      to.through.push_back(std::ssize(to.waits));
    }
  }

  void find_relays(Rank rank) {
    const Kernel& from = kernels_[rank];
    for (const auto& [lane, pieces_of_lane] : from.lanes) {
      if (lane % of_channel() % 2 == 0) continue;
      for (const Piece& piece : pieces_of_lane) {
        const Rank by = leaves_by(rank, rounds_.sends_to(rank, piece.round));
        if (by == rank) continue;
        Relays& there = relays_[class_of(by)];
        const auto [at, fresh] =
            there.index.try_emplace({rank % gpus_, lane}, static_cast<int>(there.lanes.size()));
        if (fresh) there.lanes.push_back({rank % gpus_, lane, {}});
        Pieces& pieces = there.lanes[at->second].pieces;
        const std::int64_t first = steps_of(pieces);
        pieces.push_back(
            {piece.round, piece.part, piece.batch, first, first + piece.end - piece.first});
      }
    }
  }

  std::int32_t n_;
  std::int32_t gpus_;
  Contract contract_;
  PointToPoint p2p_;
  Version version_;
  P2pRounds rounds_;
  std::int64_t count_;    ///< number of elements of a message
  std::int64_t planned_;  ///< number of elements for which NCCL's division into parts and chunks is
                          ///< computed
  std::int64_t item_;
  P2pPortions near_, far_, self_;
  int width_ = 1;  ///< maximum number of sends, or of receives, in any batch
  std::vector<Kernel> kernels_;
  std::vector<Relays> relays_;
};

}  // namespace

std::shared_ptr<const Schedule> lowered_sends(const Communicator& comm,
                                              const LoweringRequest& request) {
  return std::make_shared<Sends>(comm, request);
}

}  // namespace tutti::core::nccl
