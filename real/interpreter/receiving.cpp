// This file is the receiving half of Interpreter, and sending.cpp is the sending half. Every piece
// is checked against the schedule before memory is allocated for it (lane_for(), enter()). If the
// lane's current step receives the piece's message, the piece is stored at its final address or
// reduced immediately. Otherwise the piece is buffered, and take_message() processes it when its
// step begins. Within a message, consume() processes pieces strictly in order. A step that forwards
// a message first acquires a slot at its receiver. If no slot is free, the step receives the whole
// message, frees its own slot, and forwards the message later (`holds`). Slots of different ranks
// therefore never wait for each other in a cycle.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/check.h"
#include "real/interpreter/state.h"

namespace tutti::real {

using core::Rank;
using core::Step;
using core::StepKind;

namespace {

bool keeps_as_it_is(StepKind kind) {
  return kind == StepKind::kReceive || kind == StepKind::kReceiveSend ||
         kind == StepKind::kReceiveAny;
}

}  // namespace

/// Returns true if the lane is in the middle of receiving a message over this connection. No other
/// message is then in transfer over the connection. The next message begins after this message has
/// ended and the lane has left the state kInMessage.
bool Interpreter::takes_from(const Lane& lane, const Connection& connection) {
  return lane.in == &connection && lane.state == Lane::State::kInMessage;
}

/// Returns the lane's connection from the sender of `channel`; null if no message has arrived from
/// this sender yet. Cost: one comparison if the sender is the same as in the previous call;
/// otherwise at most one comparison per sender of the lane.
Interpreter::Connection* Interpreter::connection_of(Lane& lane, Rank from, core::Lane from_lane) {
  auto& all = lane.connections;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->channel.from != from || all[i]->channel.from_lane != from_lane) continue;
    if (i > 0) std::swap(all[0], all[i]);
    return all[0].get();
  }
  return nullptr;
}

/// Adds a connection to the lane. Returns null if the schedule has no lane that could be the
/// sender.
Interpreter::Connection* Interpreter::new_connection(Lane& lane, const Channel& channel) {
  const Instance& instance = *lane.instance;
  if (channel.from < 0 || channel.from >= instance.ranks_in_all || channel.from_lane < 0 ||
      channel.from_lane >= instance.schedule->lanes(channel.from))
    return nullptr;
  lane.connections.push_back(std::make_unique<Connection>());
  lane.connections.back()->channel = channel;
  return lane.connections.back().get();
}

/// Finds the connection whose first message the current step receives. Returns false if the message
/// has not begun to arrive.
bool Interpreter::find_message(Lane& lane) {
  if (lane.receives_any) {
    if (lane.any.empty()) return false;
    lane.in = lane.any.front();
    lane.any.pop_front();
    return true;
  }
  Connection* const connection = connection_of(lane, lane.now->from, lane.now->step.from.lane);
  if (!connection || connection->messages.empty()) return false;
  lane.in = connection;
  return true;
}

/// Takes the next message of the step's connection, and processes the part that has arrived.
/// Returns false if the message is incomplete.
bool Interpreter::take_message(Lane& lane) {
  Instance& instance = *lane.instance;
  const Step& step = lane.now->step;
  if (!lane.in && !find_message(lane)) {
    lane.state = Lane::State::kOnMessage;
    return false;
  }
  Connection& connection = *lane.in;
  Inbound& message = connection.messages.front();
  lane.peer = connection.channel.from;
  lane.peer_lane = connection.channel.from_lane;
  if (message.total != step.target.count * instance.item) {
    failure_ = fmt::format(
        "rank {} lane {} expects {} bytes from rank {} at step {} of pack {}, but a message of {} "
        "bytes arrived",
        lane.rank, lane.number, step.target.count * instance.item, lane.peer, lane.next,
        instance.tag.pack, message.total);
    lane.state = Lane::State::kFailed;
    return false;
  }
  if (core::sends(step.kind)) {
    // If the receiver has no free slot, receive the whole message first: the slot of the received
    // message must not wait for another slot.
    lane.passing_on = acquire_slot(lane);
    lane.holds = !lane.passing_on;
    lane.has_slot = false;
    const bool keeps = lane.holds || serial_steps_;
    if (step.kind == StepKind::kReceiveReduceSend && keeps && lane.kept_bytes < message.total) {
      lane.kept = devices_.take(lane.rank, message.total, false);
      lane.kept_bytes = message.total;
    }
  }
  lane.state = Lane::State::kInMessage;
  const std::int64_t here = message.received;
  if (here > 0 || message.total == 0)
    consume(lane, message.buffer.get(), 0, here, message.total == 0);
  return lane.state == Lane::State::kReady;
}

/// Returns the lane that receives the piece, if the schedule allows the piece. Any other piece is
/// rejected before anything is stored for it.
Interpreter::Lane* Interpreter::lane_for(Instance& instance, const Piece& piece) {
  const Channel& channel = piece.channel;
  if (channel.to < 0 || channel.to >= instance.ranks_in_all || channel.to_lane < 0) return nullptr;
  const std::int32_t local = instance.places[channel.to];
  if (local < 0) return nullptr;
  std::vector<Lane>& lanes = instance.ranks[local].lanes;
  const bool fits = channel.to_lane < static_cast<core::Lane>(lanes.size()) && piece.total >= 0 &&
                    piece.total <= instance.bytes && piece.offset >= 0 && piece.length >= 0 &&
                    piece.length <= piece.total - piece.offset && piece.length % instance.item == 0;
  return fits ? &lanes[channel.to_lane] : nullptr;
}

/// Adds a piece to the message that it begins or continues. Returns null if the piece does not
/// follow the data that has arrived.
Interpreter::Connection* Interpreter::enter(Lane& lane, const Piece& piece) {
  const Channel& channel = piece.channel;
  Connection* const used_before = connection_of(lane, channel.from, channel.from_lane);
  Connection* const found = used_before ? used_before : new_connection(lane, channel);
  if (!found) return nullptr;
  Connection& connection = *found;
  const Inbound* const last = connection.messages.empty() ? nullptr : &connection.messages.back();
  const bool same = connection.begun > 0 && piece.message == connection.number;
  if (piece.offset > 0)
    return same && last && last->received == piece.offset && last->total == piece.total
               ? &connection
               : nullptr;
  if (last && last->received < last->total) return nullptr;
  // Message numbers wrap around, so a difference of more than half the range means that the new
  // number is earlier.
  const std::uint32_t ahead = (piece.message - connection.number) % Piece::kMessageNumbers;
  if (connection.begun > 0 && (ahead == 0 || ahead > Piece::kMessageNumbers / 2))
    return nullptr;  // the piece arrived before
  // A valid sender sends at most one message per receiving step, and at most one per slot.
  const auto waiting = static_cast<std::int64_t>(connection.messages.size());
  if (waiting >= lane.credits || connection.begun++ >= lane.steps) return nullptr;
  connection.number = piece.message;
  Inbound begun;
  begun.total = piece.total;
  connection.messages.push_back(std::move(begun));
  if (lane.receives_any) lane.any.push_back(&connection);
  // The lane may already be waiting for this message. A waiting lane takes the message immediately,
  // so that the bytes need not be buffered.
  if (lane.state != Lane::State::kOnMessage) return &connection;
  const bool wanted = lane.receives_any || (lane.now->from == channel.from &&
                                            lane.now->step.from.lane == channel.from_lane);
  if (!wanted) return &connection;
  if (watch_steps_)
    lane.waited = std::min(std::max(transport_.began(), lane.began), transport_.now());
  if (piece.total > 0) {
    lane.state = Lane::State::kReady;
    take_message(lane);
  } else {
    make_ready(lane);
  }
  return &connection;
}

/// Returns the address at which to store the piece. If the current step has taken the message, this
/// is the final address, or a buffer from which the piece is reduced immediately. If no step has
/// taken the message, this is a buffer that keeps the piece until its step begins.
std::byte* Interpreter::place(const Piece& piece) {
  static std::byte nowhere;
  Instance* const instance = find(piece.channel.collective);
  Lane* const to = instance ? lane_for(*instance, piece) : nullptr;
  Connection* const connection = to ? enter(*to, piece) : nullptr;
  if (!connection) return nullptr;
  Lane& lane = *to;
  Inbound& message = connection->messages.back();
  // Decide only here whether the piece is buffered. The decision holds even if the lane's step
  // takes the message between this call and arrived().
  message.in_place = false;
  if (piece.length == 0) return &nowhere;
  const bool local = transport_.is_local(piece.channel.from);
  if (!takes_from(lane, *connection)) {
    if (!message.buffer) message.buffer = devices_.take(lane.rank, piece.total, !local);
    message.placed = message.buffer.get() + piece.offset;
  } else if (keeps_as_it_is(lane.now->step.kind) && (lane.host_reaches || local)) {
    message.placed = target_of(lane) + piece.offset;
    message.in_place = true;
  } else {
    message.placed = room_for(lane, piece.length, !local);
  }
  return message.placed;
}

void Interpreter::arrived(const Piece& piece) {
  ++pieces_;
  Instance& instance = *find(piece.channel.collective);
  Lane& lane = lane_of(instance, piece.channel.to, piece.channel.to_lane);
  Connection& connection = *connection_of(lane, piece.channel.from, piece.channel.from_lane);
  Inbound& message = connection.messages.back();
  message.received = piece.offset + piece.length;
  if (!takes_from(lane, connection)) return;
  consume(lane, message.placed, piece.offset, piece.length, message.in_place);
  if (lane.state == Lane::State::kReady) make_ready(lane);
}

/// Processes a piece without storing it, unless its message must wait for its step.
bool Interpreter::take(const Piece& piece, const std::byte* bytes) {
  Instance* const instance = find(piece.channel.collective);
  Lane* const found = instance ? lane_for(*instance, piece) : nullptr;
  Connection* const connection = found ? enter(*found, piece) : nullptr;
  if (!connection) return false;
  Lane& lane = *found;
  ++pieces_;
  Inbound& message = connection->messages.back();
  message.received = piece.offset + piece.length;
  if (piece.length > 0 && (serial_steps_ || !takes_from(lane, *connection))) {
    std::byte* to = nullptr;
    if (takes_from(lane, *connection)) {
      to = room_for(lane, piece.length, true);
    } else {
      if (!message.buffer) message.buffer = devices_.take(lane.rank, piece.total, true);
      to = message.buffer.get() + piece.offset;
    }
    std::memcpy(to, bytes, static_cast<std::size_t>(piece.length));
    bytes = to;
  }
  if (!takes_from(lane, *connection)) return true;
  consume(lane, bytes, piece.offset, piece.length, false);
  if (lane.state == Lane::State::kReady) make_ready(lane);
  return true;
}

/// Returns memory for one piece of the current message.
std::byte* Interpreter::room_for(Lane& lane, std::int64_t bytes, bool for_host) {
  if (!lane.room || lane.room_bytes < bytes || lane.room_for_host != for_host) {
    lane.room = devices_.take(lane.rank, bytes, for_host);
    lane.room_bytes = bytes;
    lane.room_for_host = for_host;
  }
  return lane.room.get();
}

/// Processes `length` bytes of the current message, which are at `bytes`, as the step requires.
/// `in_place`: true if `bytes` is the final address of these bytes.
void Interpreter::consume(Lane& lane, const std::byte* bytes, std::int64_t offset,
                          std::int64_t length, bool in_place) {
  const Step& step = lane.now->step;
  TUTTI_CHECK(offset == lane.consumed, "rank {} lane {}: byte {} arrived after byte {}", lane.rank,
              lane.number, offset, lane.consumed);
  lane.consumed += length;
  if (lane.consumed == lane.in->messages.front().total) lane.state = Lane::State::kOnDevice;
  const bool kept = lane.holds || serial_steps_;
  if (step.kind == StepKind::kReceiveReduceSend && !kept && length > 0)
    return reduce_and_pass_on(lane, bytes, offset, length);
  std::byte* result = length > 0 ? target_of(lane) + offset : nullptr;
  if (length == 0 || in_place) return piece_done(lane, result, offset, length);

  Work work = work_of(lane, Work::Kind::kCombine);
  work.count = length / lane.instance->item;
  work.b = bytes;
  if (core::reduces_received(step.kind)) {
    work.a = at(lane, step.source) + offset;
    if (step.kind == StepKind::kReceiveReduceSend) result = lane.kept.get() + offset;
  } else {
    work.kind = Work::Kind::kMove;
    work.a = bytes;
  }
  work.target = result;
  const Ticket ticket = ++next_ticket_;
  if (devices_.perform(work, ticket)) return piece_done(lane, result, offset, length);
  // The next piece must not overwrite this piece.
  Devices::Memory room = bytes == lane.room.get() ? std::move(lane.room) : Devices::Memory();
  works_.try_emplace(
      ticket,
      PendingWork{PendingWork::What::kPieceIn, &lane, result, offset, length, {}, std::move(room)});
}

/// Reduces and forwards data without storing it, in parts that stay in the cache.
void Interpreter::reduce_and_pass_on(Lane& lane, const std::byte* bytes, std::int64_t offset,
                                     std::int64_t length) {
  const std::int64_t total = lane.in->messages.front().total;
  Work work = work_of(lane, Work::Kind::kCombine);
  for (std::int64_t done = 0; done < length;) {
    const std::int64_t part = std::min(piece_bytes_, length - done);
    work.count = part / lane.instance->item;
    work.a = at(lane, lane.now->step.source) + offset + done;
    work.b = bytes + done;
    const Piece piece{outgoing(lane), total, offset + done, part, number_of(lane)};
    Devices::Memory room;
    std::byte* const there = transport_.reserve(piece);
    if (!there) room = devices_.take(lane.rank, piece_bytes_, true);
    work.target = there ? there : room.get();
    const bool at_once = devices_.perform(work, ++next_ticket_);
    TUTTI_CHECK(at_once, "rank {} lane {}: the device did not perform the work immediately",
                lane.rank, lane.number);
    if (there) {
      transport_.publish(piece);
    } else {
      send_room(lane, std::move(room), piece);
    }
    done += part;
  }
  lane.finished += length;
  if (lane.finished == total) after_message(lane);
}

/// Called when a piece of the current message has been reduced or stored. Forwards the piece if the
/// step forwards its message.
void Interpreter::piece_done(Lane& lane, const std::byte* result, std::int64_t offset,
                             std::int64_t length) {
  const std::int64_t total = lane.in->messages.front().total;
  lane.finished += length;
  if (lane.passing_on) send_pieces(lane, outgoing(lane), result, total, offset, length);
  if (lane.finished == total) after_message(lane);
}

/// Called when a message has been reduced or stored completely. Frees the message's slot. Only
/// forwarding may remain.
void Interpreter::after_message(Lane& lane) {
  Connection& connection = *lane.in;
  connection.messages.pop_front();
  lane.in = nullptr;
  if (lane.credits != core::kUnlimitedCredits) transport_.free_slot(connection.channel);
  if (lane.holds && lane.has_slot) return send_held(lane);
  if (lane.holds) {
    lane.state = Lane::State::kOnSlot;
    return;
  }
  pass(lane);
}

}  // namespace tutti::real
