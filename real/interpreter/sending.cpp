#include <algorithm>

#include "core/base/check.h"
#include "real/interpreter/state.h"

namespace tutti::real {

using core::Rank;
using core::Step;
using core::StepKind;

namespace {

/// A message is sent in pieces of this size: large enough that a header costs nothing, small enough that what was just
/// received is still in the cache when it is reduced, and that the next rank begins early.
constexpr std::int64_t kPieceBytes = 128 << 10;
/// Between memories of devices: every piece is a copy that has to be started.
constexpr std::int64_t kDevicePieceBytes = 4 << 20;
/// Buffers that a lane may have on the way from its device to the transport.
constexpr int kMostBounces = 16;

}  // namespace

bool Interpreter::acquire_slot(Lane& lane, const Channel& channel) {
  Instance& instance = *lane.instance;
  const int credits = instance.schedule->credits(channel.to, channel.to_lane);
  if (credits == core::kUnlimitedCredits) return true;
  std::int32_t& used = instance.slots_used[channel];
  if (used < credits) {
    ++used;
    return true;
  }
  instance.waiting_for_slot[channel] = &lane;
  lane.state = Lane::State::kOnSlot;
  return false;
}

bool Interpreter::slot_freed(const Channel& channel) {
  Instance* const instance = find(channel.collective);
  if (!instance) return true;  // the last slots of a collective that is over here
  const auto used = instance->slots_used.find(channel);
  if (used == instance->slots_used.end() || used->second <= 0) return false;
  --used->second;
  const auto waiting = instance->waiting_for_slot.find(channel);
  if (waiting == instance->waiting_for_slot.end()) return true;
  Lane& lane = *waiting->second;
  instance->waiting_for_slot.erase(waiting);
  lane.waited = transport_.now();
  if (!lane.holds) {
    make_ready(lane);
    return true;
  }
  ++used->second;
  lane.has_slot = true;
  if (lane.state == Lane::State::kOnSlot) send_held(lane);
  return true;
}

/// The message of a fused step was taken whole, and there is a slot for it now.
void Interpreter::send_held(Lane& lane) {
  lane.holds = false;
  const bool kept = lane.step.kind == StepKind::kReceiveReduceSend;
  send_whole(lane, kept ? lane.kept.get() : at(lane, lane.step.target), lane.step.target.count * lane.instance->item);
}

/// Hands `length` bytes of a message of `total`, from `offset` on, to the transport, piece by piece. A message without
/// bytes is one empty piece.
void Interpreter::send_pieces(Lane& lane, const Channel& channel, const std::byte* bytes, std::int64_t total,
                              std::int64_t offset, std::int64_t length) {
  const bool local = transport_.is_local(channel.to);
  const std::int64_t most = lane.host_reaches || !local ? kPieceBytes : kDevicePieceBytes;
  lane.unsent += length == 0 ? 1 : (length + most - 1) / most;
  if (!lane.host_reaches && !local && length > 0) {
    lane.outbound.push_back({channel, bytes, total, offset, offset + length});
    lane.outbound.back().bytes -= offset;
    return send_out(lane);
  }
  std::int64_t done = 0;
  do {
    const std::int64_t part = std::min(most, length - done);
    sends_.try_emplace(++next_ticket_, PendingSend{&lane, {}});
    transport_.send({channel, total, offset + done, part}, bytes + done, next_ticket_);
    done += part;
  } while (done < length);
}

/// Moves as much of what is to go out as may be under way from the device's memory to where the transport reaches it.
void Interpreter::send_out(Lane& lane) {
  while (!lane.outbound.empty() && lane.bounces < kMostBounces) {
    Outbound& out = lane.outbound.front();
    const std::int64_t part = std::min(kPieceBytes, out.end - out.offset);
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
                        {out.channel, out.total, out.offset, part},
                        std::move(room)};
    out.offset += part;
    if (out.offset == out.end) lane.outbound.pop_front();
    ++lane.bounces;
    const Ticket ticket = ++next_ticket_;
    works_.try_emplace(ticket, std::move(pending));
    if (devices_.perform(work, ticket)) worked(ticket);
  }
}

/// Sends a whole message; the step is complete when it has left.
void Interpreter::send_whole(Lane& lane, const std::byte* bytes, std::int64_t length) {
  lane.state = Lane::State::kSending;
  send_pieces(lane, outgoing(lane), bytes, length, 0, length);
}

void Interpreter::send_multicast(Lane& lane) {
  const Step& step = lane.step;
  const std::int64_t length = step.source.count * lane.instance->item;
  for (std::int32_t i = 0; i < step.group.count; ++i) {
    const Rank to = step.group.at(i);
    if (to == lane.rank) continue;
    TUTTI_CHECK(lane.instance->schedule->credits(to, step.to.lane) == core::kUnlimitedCredits,
                "multicast into limited slots, rank {} lane {}", to, step.to.lane);
    send_pieces(lane, {lane.instance->tag, lane.rank, lane.number, to, step.to.lane}, at(lane, step.source), length, 0,
                length);
  }
  if (lane.unsent > 0) {
    lane.state = Lane::State::kSending;
  } else {
    complete(lane);
  }
}

void Interpreter::sent(Ticket ticket) {
  const auto entry = sends_.extract(ticket);
  if (entry.empty()) return;
  Lane& lane = *entry.mapped().lane;
  if (entry.mapped().bounce) {
    --lane.bounces;
    send_out(lane);
  }
  if (--lane.unsent > 0 || lane.state != Lane::State::kSending) return;
  complete(lane);
  make_ready(lane);
}

}  // namespace tutti::real
