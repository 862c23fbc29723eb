// The schedule of PAT, in which one GPU of each node takes part. The first lane of a channel is the
// thread block. For each dimension, there are two more lanes: the sending proxy and the receiving
// proxy. Messages are composed and read in slots of the rank's scratch buffer. Each dimension has
// eight slots for messages to send and eight slots for received messages. The thread block waits
// until the data that it reads has been received and the data that it overwrites has been sent. The
// proxies wait for the thread block. NCCL adds two operands and writes the sum in one pass. The
// schedule represents this pass as a copy followed by an addition.
//
// If the number of ranks is not a power of two, NCCL's messages may have gaps between chunks. Here,
// chunks are adjacent.

#include <map>
#include <utility>

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

class Pat : public Schedule {
 public:
  Pat(const Communicator& comm, CollectiveKind kind, std::int64_t elements,
      const std::vector<ChannelLoops>& channels, const std::vector<PatOrder>& orders)
      : n_(comm.ranks),
        gathers_(kind == CollectiveKind::kAllGather),
        block_(elements / comm.ranks) {
    for (std::size_t c = 0; c < channels.size(); ++c) add(channels[c], orders[c]);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return of_channel() * static_cast<std::int32_t>(channels_.size());
  }
  [[nodiscard]] int credits(Rank, Lane) const override { return kSlots; }
  [[nodiscard]] std::int64_t scratch(Rank) const override { return scratch_; }
  [[nodiscard]] Engine engine(Rank, Lane lane) const override {
    return lane % of_channel() == 0 ? Engine::kKernel : Engine::kCopyEngine;
  }

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    const Channel& channel = channel_of(lane);
    const Lane role = lane % of_channel();
    return loops(channel) *
           (role == 0 ? std::ssize(channel.moves) : std::ssize(dimension(channel, role).messages));
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Channel& channel = channel_of(lane);
    const Lane role = lane % of_channel();
    if (role == 0) return move(channel, rank, lane, index);
    return is_sender(role) ? send(channel, lane, role, index) : receive(channel, lane, role, index);
  }

 private:
  /// A message of a loop.
  struct Message {
    std::vector<int> places;    ///< NCCL's positions of the chunks in the message, in ascending
                                ///< order
    std::int64_t complete = 0;  ///< number of moves in a loop after which the sender has completed
                                ///< the message
    std::int64_t through = 0;   ///< number of moves in a loop after which the receiver does not
                                ///< need the message any more
  };
  struct Dimension {
    std::vector<Message> messages;
    /// The offset, in the scratch buffer, of the slots for messages to send. The slots for received
    /// messages follow.
    std::int64_t slots = 0;
  };
  enum class To { kMessage, kAdd, kOutput, kAddOutput };
  /// A step of the thread block.
  struct Move {
    To to = To::kMessage;
    PatStep::ChunkLocation from, message;  ///< dimension -1: the block in the rank's own buffer
    int ahead = 0;
    bool begins_reading = false;  ///< true if this is the first move of the loop that reads the
                                  ///< message of `from`
    bool begins_writing = false;  ///< true if this is the first move of the loop that writes to the
                                  ///< message of `message`
  };
  struct Channel {
    ChannelLoops part;
    std::vector<Dimension> dimensions;
    std::vector<Move> moves;
    std::int64_t slot = 0;  ///< size of a slot in elements
  };

  // --- lanes ---

  [[nodiscard]] Lane of_channel() const { return 1 + 2 * dimensions_; }
  [[nodiscard]] const Channel& channel_of(Lane lane) const {
    return channels_[lane / of_channel()];
  }
  static Lane sender(int dimension) { return 1 + 2 * dimension; }
  static Lane receiver(int dimension) { return 2 + 2 * dimension; }
  static bool is_sender(Lane role) { return role % 2 == 1; }
  static const Dimension& dimension(const Channel& channel, Lane role) {
    return channel.dimensions[(role - 1) / 2];
  }
  /// Returns the distance from a rank to its peer, in ranks. The sign for sending is opposite to
  /// the sign for receiving.
  [[nodiscard]] std::int32_t distance(Lane role) const {
    const std::int32_t far = 1 << (role - 1) / 2;
    return gathers_ == is_sender(role) ? -far : far;
  }

  // --- buffer ranges ---

  static std::int64_t loops(const Channel& channel) { return channel.part.loops(); }
  static std::int64_t number(const Dimension& dimension, std::int64_t loop, int message) {
    return loop * std::ssize(dimension.messages) + message;
  }
  /// Returns the range of `chunks` consecutive chunks in a message's slot, after the first `before`
  /// chunks.
  static Range slot(const Channel& channel, const Dimension& dimension, bool sends,
                    std::int64_t loop, int message, std::int64_t before, std::int64_t chunks) {
    const std::int64_t each = channel.part.at(loop, 0).count;
    const std::int64_t slot = number(dimension, loop, message) % kSlots + (sends ? 0 : kSlots);
    return {Buffer::kScratch, dimension.slots + slot * channel.slot + before * each, chunks * each};
  }
  static Range chunk_in(const Channel& channel, const PatStep::ChunkLocation& place, bool sends,
                        std::int64_t loop) {
    const Dimension& dimension = channel.dimensions[place.dimension];
    const std::vector<int>& places = dimension.messages[place.message].places;
    const auto before =
        std::lower_bound(places.begin(), places.end(), place.place) - places.begin();
    return slot(channel, dimension, sends, loop, place.message, before, 1);
  }

  // --- steps ---

  [[nodiscard]] Step move(const Channel& channel, Rank rank, Lane lane, std::int64_t index) const {
    const std::int64_t loop = index / std::ssize(channel.moves);
    const Move& move = channel.moves[index % std::ssize(channel.moves)];
    Range own = channel.part.at(loop, 0);
    own.offset += (rank + move.ahead) % n_ * block_;
    Step step;
    step.kind = StepKind::kCopy;
    step.source = move.from.dimension >= 0 ? chunk_in(channel, move.from, false, loop) : own;
    const bool to_output = move.to == To::kOutput || move.to == To::kAddOutput;
    step.target = to_output ? own : chunk_in(channel, move.message, true, loop);
    if (move.to == To::kAdd || move.to == To::kAddOutput) {
      step.kind = StepKind::kReduce;
      step.inputs = 1;
      step.accumulate = true;
    }
    if (move.begins_reading) {
      const auto& from = channel.dimensions[move.from.dimension];
      step.wait = {lane + receiver(move.from.dimension), number(from, loop, move.from.message) + 1};
    } else if (move.begins_writing) {
      const auto& to = channel.dimensions[move.message.dimension];
      const std::int64_t before = number(to, loop, move.message.message) - kSlots;
      if (before >= 0) step.wait = {lane + sender(move.message.dimension), before + 1};
    }
    return step;
  }

  [[nodiscard]] Step send(const Channel& channel, Lane lane, Lane role, std::int64_t index) const {
    const Dimension& here = dimension(channel, role);
    const std::int64_t loop = index / std::ssize(here.messages);
    const int number = static_cast<int>(index % std::ssize(here.messages));
    const Message& message = here.messages[number];
    Step step;
    step.kind = StepKind::kSend;
    step.wait = {lane - role, loop * std::ssize(channel.moves) + message.complete};
    step.to = Peer::ahead(distance(role), lane + 1);
    step.source = slot(channel, here, true, loop, number, 0, std::ssize(message.places));
    return step;
  }

  [[nodiscard]] Step receive(const Channel& channel, Lane lane, Lane role,
                             std::int64_t index) const {
    const Dimension& here = dimension(channel, role);
    const std::int64_t messages = std::ssize(here.messages);
    Step step;
    step.kind = StepKind::kReceive;
    if (index >= kSlots) {
      const std::int64_t before = index - kSlots;
      step.wait = {lane - role, before / messages * std::ssize(channel.moves) +
                                    here.messages[before % messages].through};
    }
    step.from = Peer::ahead(distance(role), lane - 1);
    const int number = static_cast<int>(index % messages);
    step.target = slot(channel, here, false, index / messages, number, 0,
                       std::ssize(here.messages[number].places));
    return step;
  }

  // --- moves of a loop ---

  void add(const ChannelLoops& part, const PatOrder& order) {
    dimensions_ = order.dimensions;
    Channel& made = channels_.emplace_back();
    made.part = part;
    made.slot = order.per_message * std::min(part.chunks.chunk, part.part.count);
    made.dimensions.resize(order.dimensions);
    for (Dimension& dimension : made.dimensions) {
      dimension.slots = scratch_;
      scratch_ += 2 * kSlots * made.slot;
    }
    for (const PatStep& step : order.steps) {
      gathers_ ? gather(made, step) : reduce(made, step);
      if (step.from_through) message(made, step.from).through = std::ssize(made.moves);
      if (step.to_complete) message(made, step.to).complete = std::ssize(made.moves);
    }
    for (Dimension& dimension : made.dimensions) {
      for (Message& message : dimension.messages)
        std::sort(message.places.begin(), message.places.end());
    }
    mark_beginnings(made);
  }

  static Message& message(Channel& channel, const PatStep::ChunkLocation& place) {
    auto& messages = channel.dimensions[place.dimension].messages;
    if (static_cast<std::size_t>(place.message) >= messages.size())
      messages.resize(static_cast<std::size_t>(place.message) + 1);
    return messages[place.message];
  }

  static void gather(Channel& made, const PatStep& step) {
    if (step.fresh && step.from.dimension >= 0)
      made.moves.push_back({To::kOutput, step.from, {}, step.ahead});
    if (step.to.dimension < 0) return;
    made.moves.push_back({To::kMessage, step.from, step.to, step.ahead});
    message(made, step.to).places.push_back(step.to.place);
  }

  static void reduce(Channel& made, const PatStep& step) {
    const bool to_message = step.to.dimension >= 0;
    if (to_message && step.fresh) {
      made.moves.push_back({To::kMessage, {}, step.to, step.ahead});
      message(made, step.to).places.push_back(step.to.place);
    }
    if (step.from.dimension >= 0)
      made.moves.push_back(
          {to_message ? To::kAdd : To::kAddOutput, step.from, step.to, step.ahead});
  }

  /// For each message of a loop, marks the first move that reads from it or writes to it, because
  /// this move has to wait for the proxy.
  static void mark_beginnings(Channel& made) {
    std::map<std::pair<int, int>, bool> read, written;
    for (Move& move : made.moves) {
      if (move.from.dimension >= 0)
        move.begins_reading =
            read.try_emplace({move.from.dimension, move.from.message}, true).second;
      if (move.message.dimension >= 0)
        move.begins_writing =
            written.try_emplace({move.message.dimension, move.message.message}, true).second;
    }
  }

  std::int32_t n_;
  bool gathers_;
  std::int64_t block_;
  int dimensions_ = 0;
  std::int64_t scratch_ = 0;
  std::vector<Channel> channels_;
};

}  // namespace

std::shared_ptr<const Schedule> lowered_pat(const Communicator& comm, CollectiveKind kind,
                                            std::int64_t elements,
                                            const std::vector<ChannelLoops>& channels,
                                            const std::vector<PatOrder>& orders) {
  return std::make_shared<Pat>(comm, kind, elements, channels, orders);
}

}  // namespace tutti::core::nccl
