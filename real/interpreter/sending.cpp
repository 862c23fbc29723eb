#include <algorithm>

#include "core/base/check.h"
#include "real/interpreter/state.h"

namespace tutti::real {

using core::Rank;
using core::Step;
using core::StepKind;

namespace {

/// The size in bytes of a piece that is copied between the memories of two devices. Each piece
/// costs one launch of a copy.
constexpr std::int64_t kDevicePieceBytes = 4 << 20;
/// The maximum number of a lane's buffers between its device and the transport.
constexpr int kMaxBounces = 16;

}  // namespace

/// Acquires a slot of the connection on which the current step sends. Returns false if no slot is
/// free.
bool Interpreter::acquire_slot(Lane& lane) {
  if (lane.now->credits == core::kUnlimitedCredits) return true;
  const Channel channel = outgoing(lane);
  Instance& instance = *lane.instance;
  std::int32_t& used = instance.slots_used[channel];
  if (used < lane.now->credits) {
    ++used;
    return true;
  }
  instance.waiting_for_slot[channel] = &lane;
  lane.state = Lane::State::kOnSlot;
  return false;
}

bool Interpreter::slot_freed(const Channel& channel) {
  Instance* const instance = find(channel.collective);
  if (!instance) return true;  // late reports for a collective that has ended here
  const auto used = instance->slots_used.find(channel);
  if (used == instance->slots_used.end() || used->second <= 0) return false;
  --used->second;
  const auto waiting = instance->waiting_for_slot.find(channel);
  if (waiting == instance->waiting_for_slot.end()) return true;
  Lane& lane = *waiting->second;
  instance->waiting_for_slot.erase(waiting);
  if (watch_steps_) lane.waited = transport_.now();
  if (!lane.holds) {
    make_ready(lane);
    return true;
  }
  ++used->second;
  lane.has_slot = true;
  if (lane.state == Lane::State::kOnSlot) send_held(lane);
  if (lane.state == Lane::State::kReady) make_ready(lane);
  return true;
}

/// Sends the message of a fused step. The received message was first stored completely, because the
/// receiver of this step had no free slot.
void Interpreter::send_held(Lane& lane) {
  lane.holds = false;
  const Step& step = lane.now->step;
  const bool kept = step.kind == StepKind::kReceiveReduceSend;
  send_whole(lane, kept ? lane.kept.get() : at(lane, step.target),
             step.target.count * lane.instance->item);
}

/// Passes `length` bytes of a message of `total` bytes, starting at `offset`, to the transport in
/// pieces. A message of 0 bytes is sent as one empty piece.
void Interpreter::send_pieces(Lane& lane, const Channel& channel, const std::byte* bytes,
                              std::int64_t total, std::int64_t offset, std::int64_t length) {
  const bool between_devices = !lane.host_reaches && transport_.is_local(channel.to);
  const std::int64_t most = between_devices ? kDevicePieceBytes : piece_bytes_;
  if (!lane.host_reaches && !between_devices && length > 0) {
    lane.unsent += (length + most - 1) / most;
    lane.outbound.push_back({channel, bytes, total, offset, offset + length, number_of(lane)});
    lane.outbound.back().bytes -= offset;
    return send_out(lane);
  }
  std::int64_t done = 0;
  do {
    const std::int64_t part = std::min(most, length - done);
    const Ticket ticket = next_ticket();
    ++pieces_;
    if (!transport_.send({channel, total, offset + done, part, number_of(lane)}, bytes + done,
                         ticket)) {
      take_ticket(lane, {});
      ++lane.unsent;
    }
    done += part;
  } while (done < length);
}

/// Sends a piece whose payload is in the buffer `room`, and keeps the buffer until the payload has
/// been sent.
void Interpreter::send_room(Lane& lane, Devices::Memory room, const Piece& piece) {
  ++pieces_;
  if (transport_.send(piece, room.get(), next_ticket())) return;
  ++lane.unsent;
  take_ticket(lane, std::move(room));
}

/// Returns the step to which the pieces that are being sent belong: the current step, or the last
/// step if the lane has completed all steps.
std::int64_t Interpreter::step_of(const Lane& lane) {
  return lane.begun ? lane.next : lane.next - 1;
}

std::uint32_t Interpreter::number_of(const Lane& lane) {
  return static_cast<std::uint32_t>(step_of(lane)) % Piece::kMessageNumbers;
}

/// Returns an unused ticket for the next piece. If the transport sends the piece immediately, the
/// ticket remains unused.
Ticket Interpreter::next_ticket() {
  if (free_tickets_.empty()) {
    sends_.emplace_back();
    free_tickets_.push_back(sends_.size());
  }
  return free_tickets_.back();
}

/// Assigns the ticket from next_ticket() to a piece that was not sent immediately.
void Interpreter::take_ticket(Lane& lane, Devices::Memory bounce) {
  sends_[free_tickets_.back() - 1] = {&lane, step_of(lane), std::move(bounce)};
  free_tickets_.pop_back();
}

/// Copies outgoing data from the device's memory to buffers that the transport can access, as long
/// as buffers are available.
void Interpreter::send_out(Lane& lane) {
  while (!lane.outbound.empty() && lane.bounces < kMaxBounces) {
    Outbound& out = lane.outbound.front();
    const std::int64_t part = std::min(piece_bytes_, out.end - out.offset);
    Work work = work_of(lane, Work::Kind::kMove);
    Devices::Memory room = devices_.take(lane.rank, part, true);
    work.target = room.get();
    work.a = out.bytes + out.offset;
    work.count = part / lane.instance->item;
    PendingWork pending{PendingWork::What::kPieceOut,
                        &lane,
                        nullptr,
                        0,
                        0,
                        {out.channel, out.total, out.offset, part, out.message},
                        std::move(room)};
    out.offset += part;
    if (out.offset == out.end) lane.outbound.pop_front();
    ++lane.bounces;
    const Ticket ticket = ++next_ticket_;
    works_.try_emplace(ticket, std::move(pending));
    if (devices_.perform(work, ticket)) worked(ticket);
  }
}

/// Sends the whole message of a step. The step is complete when the message has been sent.
void Interpreter::send_whole(Lane& lane, const std::byte* bytes, std::int64_t length) {
  send_pieces(lane, outgoing(lane), bytes, length, 0, length);
  pass(lane);
}

void Interpreter::send_multicast(Lane& lane) {
  const Step& step = lane.now->step;
  const std::int64_t length = step.source.count * lane.instance->item;
  for (std::int32_t i = 0; i < step.group.count; ++i) {
    const Rank to = step.group.at(i);
    if (to == lane.rank) continue;
    TUTTI_CHECK(lane.instance->schedule->credits(to, step.to.lane) == core::kUnlimitedCredits,
                "multicast into limited slots, rank {} lane {}", to, step.to.lane);
    send_pieces(lane, {lane.instance->tag, lane.rank, lane.number, to, step.to.lane},
                at(lane, step.source), length, 0, length);
  }
  pass(lane);
}

void Interpreter::sent(Ticket ticket) {
  PendingSend send = std::exchange(sends_[ticket - 1], {});
  free_tickets_.push_back(ticket);
  ++pieces_;
  Lane& lane = *send.lane;
  if (send.bounce && !lane.host_reaches) {
    --lane.bounces;
    send_out(lane);
  }
  if (send.index >= lane.next) {
    --lane.unsent;
    return;
  }
  --lane.unsent_steps[send.index - lane.done].unsent;
  const std::int64_t before = lane.done;
  for (; !lane.unsent_steps.empty() && lane.unsent_steps.front().unsent == 0; ++lane.done)
    lane.unsent_steps.pop_front();
  if (lane.leaving && lane.unsent_steps.empty()) {
    lane.leaving->end = lane.began = lane.waited = transport_.now();
    listener_.step_done(*std::exchange(lane.leaving, std::nullopt));
  }
  if (lane.done > before) count_complete(lane);
  if (lane.state == Lane::State::kSending) make_ready(lane);
}

}  // namespace tutti::real
