// A message involves two independent activities. In the first activity, the real transport moves
// the message's bytes. In the second activity, timers move the message's head and tail over the
// emulated links. The function serve() moves the head over one hop. The formulas are those of
// sim/network/network.cpp, but timers replace simulated events. At the sender, leave_sender() frees
// the buffer when the first link has sent the tail. The function deliver_to_receiver() sends the
// stamp and the bytes as soon as the arrival times at the receiver's first link are known. The
// receiver gets the message when both activities have ended. Messages between ranks of this process
// do not use the transport. Messages within a device use no links. The file traffic.cpp knows which
// messages are valid, and scale.h converts between the clocks.

#include "real/emulate/network.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::real {

using core::Path;
using core::PathHop;

/// A message in transit. The sender's process and the receiver's process have one such object each.
struct EmulatedNetwork::Message {
  Channel channel;
  std::int32_t path = 0;
  std::int64_t total = 0;
  std::uint32_t number = 0;  ///< see Piece::message
  /// The number of hops that the sender's worker emulates. The receiver's worker emulates all later
  /// hops.
  std::size_t own_hops = 0;
  Clock::time_point began;  ///< the time at which the first hop began to serve the message
  Clock::time_point tail;   ///< the time at which the message's tail reaches the next hop
  bool local = false;

  // At the sender.
  std::int64_t added = 0;    ///< bytes of the message that the interpreter has sent
  bool buffer_free = false;  ///< true: the first link has sent the tail
  bool handed_over = false;  ///< true: the message was passed to the real transport
  Stamp stamp;
  struct Waiting {
    Piece piece;
    const std::byte* payload = nullptr;
    Ticket ticket = 0;
  };
  std::vector<Waiting> waiting;  ///< pieces that are not yet passed to the real transport
  std::vector<Ticket>
      done;  ///< pieces that were passed to the real transport, which still uses their buffer

  // The following members are used only by the process that receives the message. (If both ranks
  // are in this process, all members are used.)
  std::vector<std::byte> bytes;  ///< the content of the message, preceded by the stamp if the
                                 ///< message came from another process
  std::int64_t here = 0;
  bool due = false;  ///< true: the last link has sent the message
  bool stamped = false;
};

namespace {

/// Added to the lane number of a piece that reports a freed slot; such a piece travels from the
/// receiver of messages to their sender. The content of such a piece is the time at which the slot
/// became free.
constexpr core::Lane kSlotLane = 1 << 24;

/// Returns the channel whose slot a piece on channel `back` reports as free.
Channel freed_by(const Channel& back) {
  return {back.collective, back.to, back.to_lane, back.from, back.from_lane - kSlotLane};
}

}  // namespace

EmulatedNetwork::EmulatedNetwork(const core::Plan& plan, Transport& below, const TimeScale& scale,
                                 Timers& timers)
    : plan_(plan),
      below_(below),
      scale_(scale),
      timers_(timers),
      paths_(plan.collective(plan.packs.front()).group.cluster(), core::NetworkModel::kFifo),
      traffic_(plan, paths_, [&below](core::Rank rank) { return below.is_local(rank); }),
      opened_(timers.clock()),
      furthest_(std::min(2 * scale.here(traffic_.one_after_the_other()), kLongestHere)),
      free_(paths_.resources()) {}

EmulatedNetwork::~EmulatedNetwork() = default;

void EmulatedNetwork::connect(Receiver& receiver, Devices& devices) {
  receiver_ = &receiver;
  below_.connect(*this, devices);
}

core::Expected<void> EmulatedNetwork::poll(Clock::time_point until) {
  auto polled = below_.poll(until);
  if (failure_) return tl::make_unexpected(*failure_);
  return polled;
}

EmulatedNetwork::MessagePointer EmulatedNetwork::new_message(const Piece& piece,
                                                             std::int64_t total) {
  const Channel& channel = piece.channel;
  const core::Collective& collective = plan_.collective(plan_.packs[channel.collective.pack]);
  const core::PartId from = collective.group.device(channel.from);
  const core::PartId to = collective.group.device(channel.to);
  auto message = std::make_shared<Message>();
  message->channel = channel;
  message->total = total;
  message->number = piece.message;
  message->path = paths_.unicast(from, to, collective.staging,
                                 collective.schedule->engine(channel.from, channel.from_lane));
  if (from.worker == to.worker) return message;
  // The links of the sender's worker are the first hops. The hop of a copy engine is emulated by
  // the same worker as the link that follows the engine.
  const core::Cluster& cluster = collective.group.cluster();
  const std::vector<PathHop>& hops = paths_.path(message->path).hops;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (!hops[i].is_link) continue;
    const core::Hop link = cluster.link(hops[i].link());
    if ((link.from.part >= 0 ? link.from.worker : link.to.worker) == from.worker)
      message->own_hops = i + 1;
  }
  return message;
}

// --- links ---

/// Serves the message at a hop that the message's head reaches at time `head_here`.
/// sim::Network::serve does the same in virtual time.
void EmulatedNetwork::serve(const MessagePointer& message, std::size_t index,
                            Clock::time_point head_here) {
  const std::vector<PathHop>& hops = paths_.path(message->path).hops;
  const PathHop& hop = hops[index];
  Clock::time_point& free = free_[hop.resource];
  const Clock::time_point head = std::max(head_here, free);
  const core::Bytes bytes(message->total);
  const Clock::duration of_host = hop.host ? scale_.here(hop.host->per_message) : Clock::duration();
  const Clock::duration moving =
      scale_.here(hop.host ? hop.host->moving(bytes) : core::transfer_time(bytes, hop.rate));
  const Clock::time_point through = later(head, moving);
  const Clock::time_point tail = later(std::max(through, message->tail), of_host);
  // A message occupies a link until the message's tail has passed. Links that follow the threads of
  // a host are an exception, because these threads deliver data slowly.
  free = hop.host          ? later(head, scale_.here(hop.host->occupied(bytes)))
         : hop.interleaves ? through
                           : tail;
  if (index == 0) message->began = head;
  if (index == 0) timers_.at(tail, [this, message] { leave_sender(message); });
  const Clock::duration latency = scale_.here(hop.latency);
  message->tail = later(tail, latency);
  if (hop.nexts == 0) {
    timers_.at(message->tail, [this, message] { arrive(message); });
    return;
  }
  const std::size_t next = index + 1;
  const Clock::time_point arrives = later(hops[next].staged ? tail : later(head, of_host), latency);
  if (next == message->own_hops && !message->local) return deliver_to_receiver(message, arrives);
  // If the head arrives at the current time, serve it immediately, before other messages that reach
  // the link at the same time.
  if (arrives == head_here) return serve(message, next, arrives);
  timers_.at(arrives, [this, message, next] { serve(message, next, timers_.now()); });
}

// --- sending ---

EmulatedNetwork::MessagePointer EmulatedNetwork::begin(const Piece& piece) {
  const MessagePointer message = new_message(piece, piece.total);
  message->local = below_.is_local(piece.channel.to);
  TUTTI_CHECK(message->local == (message->own_hops == 0),
              "message from rank {} to rank {}: {} hops at the sender", piece.channel.from,
              piece.channel.to, message->own_hops);
  if (message->local) message->bytes.resize(piece.total);
  if (!message->local) ++on_own_links_;
  sending_[piece.channel].push_back(message);
  const Clock::time_point now = timers_.now();
  message->began = message->tail = now;
  if (paths_.path(message->path).hops.empty()) {  // the message moves within a device
    timers_.at(now, [this, message] {
      leave_sender(message);
      arrive(message);
    });
  } else {
    serve(message, 0, now);
  }
  return message;
}

bool EmulatedNetwork::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  const MessagePointer message =
      piece.offset == 0 ? begin(piece) : sending_.at(piece.channel).back();
  TUTTI_CHECK(
      message->added == piece.offset && message->total == piece.total && !message->buffer_free,
      "byte {} after {} of {}", piece.offset, message->added, message->total);
  message->added += piece.length;
  if (message->local) {
    if (piece.length > 0)
      std::memcpy(message->bytes.data() + piece.offset, payload,
                  static_cast<std::size_t>(piece.length));
    message->here += piece.length;
    message->done.push_back(ticket);
  } else if (message->handed_over) {
    pass_below(message, piece, payload, ticket);
  } else {
    message->waiting.push_back({piece, payload, ticket});
  }
  return false;
}

/// Passes the message to the real transport. The message's head has left the sender's last link,
/// and reaches the receiver's first link at time `head`.
void EmulatedNetwork::deliver_to_receiver(const MessagePointer& message, Clock::time_point head) {
  message->stamp = {message->began.time_since_epoch().count(), head.time_since_epoch().count(),
                    message->tail.time_since_epoch().count()};
  message->handed_over = true;
  --on_own_links_;
  Piece stamp;
  stamp.channel = message->channel;
  stamp.total = message->total + static_cast<std::int64_t>(sizeof(Stamp));
  stamp.length = static_cast<std::int64_t>(sizeof(Stamp));
  stamp.message = message->number;
  below_tickets_[++next_ticket_] = {message, 0};
  const Ticket ticket = next_ticket_;
  if (below_.send(stamp, reinterpret_cast<const std::byte*>(&message->stamp), ticket)) sent(ticket);
  for (const Message::Waiting& waiting : std::exchange(message->waiting, {}))
    pass_below(message, waiting.piece, waiting.payload, waiting.ticket);
}

void EmulatedNetwork::pass_below(const MessagePointer& message, const Piece& piece,
                                 const std::byte* payload, Ticket ticket) {
  if (piece.length == 0)
    return give_back(message, ticket);  // an empty piece is sent by its stamp alone
  Piece moved = piece;
  moved.total += static_cast<std::int64_t>(sizeof(Stamp));
  moved.offset += static_cast<std::int64_t>(sizeof(Stamp));
  below_tickets_[++next_ticket_] = {message, ticket};
  const Ticket below = next_ticket_;
  if (below_.send(moved, payload, below)) sent(below);
}

void EmulatedNetwork::free_slot(const Channel& channel) {
  if (below_.is_local(channel.from)) return below_.free_slot(channel);
  Piece piece;
  piece.channel = {channel.collective, channel.to, channel.to_lane + kSlotLane, channel.from,
                   channel.from_lane};
  piece.total = piece.length = static_cast<std::int64_t>(sizeof(std::int64_t));
  auto stamp = std::make_unique<std::int64_t>(timers_.now().time_since_epoch().count());
  const auto* const bytes = reinterpret_cast<const std::byte*>(stamp.get());
  slots_in_flight_.try_emplace(++next_ticket_, std::move(stamp));
  const Ticket below = next_ticket_;
  if (below_.send(piece, bytes, below)) sent(below);
}

void EmulatedNetwork::sent(Ticket below) {
  if (slots_in_flight_.erase(below) > 0) return;
  const auto entry = below_tickets_.extract(below);
  if (entry.empty()) return;
  const auto& [message, ticket] = entry.mapped();
  give_back(message, ticket);
}

/// Called when the real transport has sent a piece. For the interpreter, the piece is sent only
/// when the first emulated link has transferred the last byte of the message. Stamps, and pieces
/// that this class has copied, have ticket 0.
void EmulatedNetwork::give_back(const MessagePointer& message, Ticket ticket) {
  if (ticket == 0) return;
  if (message->buffer_free) {
    receiver_->sent(ticket);
  } else {
    message->done.push_back(ticket);
  }
}

/// Called when the first link has transferred the whole message. Lets the interpreter reuse the
/// memory of the message. If the message has not reached the last link of this worker, its content
/// is copied first.
void EmulatedNetwork::leave_sender(const MessagePointer& message) {
  message->buffer_free = true;
  if (!message->local && !message->handed_over) {
    message->bytes.resize(message->total);
    for (Message::Waiting& waiting : message->waiting) {
      std::byte* const kept = message->bytes.data() + waiting.piece.offset;
      if (waiting.piece.length > 0)
        std::memcpy(kept, waiting.payload, static_cast<std::size_t>(waiting.piece.length));
      waiting.payload = kept;
      message->done.push_back(std::exchange(waiting.ticket, 0));
    }
  }
  std::deque<MessagePointer>& queue = sending_.at(message->channel);
  queue.erase(std::find(queue.begin(), queue.end(), message));
  for (const Ticket ticket : std::exchange(message->done, {})) receiver_->sent(ticket);
}

// --- receiving ---

void EmulatedNetwork::fail(core::Rank peer, const std::string& what) {
  const std::int32_t worker = plan_.widest().group.device(peer).worker;
  if (failure_) return;
  failure_ = core::Error::run({core::ProblemCode::kProtocol, "", worker},
                              fmt::format("worker {} {}", worker, what));
}

/// Returns true if a stamp from a peer may contain these two times.
bool EmulatedNetwork::may_say(std::int64_t from_ns, std::int64_t to_ns) const {
  const std::int64_t latest = later(timers_.clock(), furthest_).time_since_epoch().count();
  return from_ns >= opened_.time_since_epoch().count() && from_ns <= to_ns && to_ns <= latest;
}

std::byte* EmulatedNetwork::place(const Piece& piece) {
  if (piece.channel.from_lane < kSlotLane) return place_message(piece);
  const Channel freed = freed_by(piece.channel);
  const Traffic::Connection* const connection = traffic_.find(freed);
  const bool ours = connection && connection->slots != core::kUnlimitedCredits &&
                    is_local(freed.from) && !is_local(freed.to);
  const bool whole =
      piece.offset == 0 && piece.length == piece.total && piece.length == sizeof slot_stamp_;
  return ours && whole ? reinterpret_cast<std::byte*>(&slot_stamp_) : nullptr;
}

std::byte* EmulatedNetwork::place_message(const Piece& piece) {
  static constexpr auto kStamp = static_cast<std::int64_t>(sizeof(Stamp));
  const Channel& channel = piece.channel;
  const Traffic::Connection* const connection = traffic_.find(channel);
  if (!connection || is_local(channel.from) || !is_local(channel.to) || piece.total < kStamp ||
      piece.total - kStamp > connection->most_bytes)
    return nullptr;
  if (piece.offset == 0) {
    if (piece.length != kStamp || !receiver_->is_open(channel.collective)) return nullptr;
    Incoming& incoming = receiving_[channel];
    if (incoming.message ||
        incoming.in_flight >= std::min<std::int64_t>(connection->messages, connection->slots))
      return nullptr;
    ++incoming.in_flight;
    incoming.message = new_message(piece, piece.total - kStamp);
    incoming.message->bytes.resize(piece.total);
    return incoming.message->bytes.data();
  }
  const auto found = receiving_.find(channel);
  if (found == receiving_.end() || !found->second.message) return nullptr;
  Message& message = *found->second.message;
  const bool goes_on = message.here == piece.offset && message.total == piece.total - kStamp &&
                       message.number == piece.message;
  return goes_on ? message.bytes.data() + piece.offset : nullptr;
}

void EmulatedNetwork::arrived(const Piece& piece) {
  if (piece.channel.from_lane >= kSlotLane) return slot_arrived(freed_by(piece.channel));
  const MessagePointer message = receiving_.at(piece.channel).message;
  message->here = piece.offset + piece.length;
  if (!message->stamped) {
    message->stamped = true;
    Stamp stamp;
    std::memcpy(&stamp, message->bytes.data(), sizeof stamp);
    if (!may_say(stamp.began_ns, stamp.head_ns) || !may_say(stamp.head_ns, stamp.tail_ns))
      return fail(piece.channel.from, "sent a message with an invalid arrival time");
    const Clock::time_point head{std::chrono::nanoseconds(stamp.head_ns)};
    message->began = Clock::time_point(std::chrono::nanoseconds(stamp.began_ns));
    message->tail = Clock::time_point(std::chrono::nanoseconds(stamp.tail_ns));
    timers_.at(head, [this, message] { serve(message, message->own_hops, timers_.now()); });
  }
  if (message->here < static_cast<std::int64_t>(message->bytes.size())) return;
  receiving_.at(piece.channel).message.reset();
  ++late_messages_.messages;
  if (!message->due) return;
  ++late_messages_.late;
  late_messages_.latest = std::max(late_messages_.latest, Clock::now() - message->tail);
  deliver(message);
}

/// Notifies the interpreter, at the time in the stamp, that a slot is free.
void EmulatedNetwork::slot_arrived(const Channel& freed) {
  if (!receiver_->is_open(freed.collective)) return;  // the collective has ended here
  if (!may_say(slot_stamp_, slot_stamp_))
    return fail(freed.to, "sent a slot release with an invalid time");
  if (credits_to_report_[freed] >= traffic_.find(freed)->slots)
    return fail(freed.to, "released a slot that was not in use");
  ++credits_to_report_[freed];
  timers_.at(Clock::time_point(std::chrono::nanoseconds(slot_stamp_)), [this, freed] {
    if (--credits_to_report_[freed] == 0) credits_to_report_.erase(freed);
    if (!receiver_->slot_freed(freed)) fail(freed.to, "released a slot that was not in use");
  });
}

/// This function handles only slots between ranks of this process. If the other rank is in another
/// process, a piece with a stamp reports the freed slot.
bool EmulatedNetwork::slot_freed(const Channel& channel) {
  return traffic_.find(channel) && is_local(channel.to) && receiver_->slot_freed(channel);
}

/// Handles a message that has left its last link.
void EmulatedNetwork::arrive(const MessagePointer& message) {
  message->due = true;
  if (message->here == static_cast<std::int64_t>(message->bytes.size())) deliver(message);
}

void EmulatedNetwork::deliver(const MessagePointer& message) {
  const Piece whole{message->channel, message->total, 0, message->total, message->number};
  if (!message->local) {
    const auto incoming = receiving_.find(message->channel);
    if (--incoming->second.in_flight == 0) receiving_.erase(incoming);
  }
  began_ = message->began;
  std::byte* const to = receiver_->place(whole);
  began_.reset();
  if (!to) {
    return fail(whole.channel.from, fmt::format("sent a message that is not in its schedule (pack "
                                                "{}, from rank {} to rank {}, {} bytes)",
                                                whole.channel.collective.pack, whole.channel.from,
                                                whole.channel.to, whole.total));
  }
  const std::byte* const from =
      message->bytes.data() + (message->bytes.size() - static_cast<std::size_t>(message->total));
  if (message->total > 0) std::memcpy(to, from, static_cast<std::size_t>(message->total));
  receiver_->arrived(whole);
}

}  // namespace tutti::real
