#include "real/interpreter.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::real {

using core::Buffer;
using core::Range;
using core::Rank;
using core::Step;
using core::StepKind;
using Clock = Transport::Clock;

namespace {

/// A message is sent in pieces of this size: large enough that a header costs nothing, small enough that what was just
/// received is still in the cache when it is reduced, and that the next rank begins early.
constexpr std::int64_t kPieceBytes = 128 << 10;

}  // namespace

/// A message on its way in.
struct Interpreter::Inbound {
  std::int64_t total = 0;
  std::int64_t received = 0;
  std::vector<std::byte> buffer;  ///< if it came before its step, or was to be reduced in place
  std::byte* placed = nullptr;    ///< where the piece at hand goes,
  bool in_place = false;          ///< and whether that is where the step wants it
};

struct Interpreter::Connection {
  Channel channel;
  std::deque<Inbound> messages;  ///< not yet received to the end, oldest first
  std::int64_t begun = 0;        ///< messages whose first piece has come, in all
};

struct Interpreter::Lane {
  enum class State : std::uint8_t {
    kNotStarted,
    kReady,
    kOnLane,
    kOnMessage,
    kInMessage,
    kOnSlot,
    kSending,
    kDone,
    kFailed
  };
  Instance* instance = nullptr;
  Rank rank = 0;
  core::Lane number = 0;
  State state = State::kNotStarted;
  bool queued = false;
  std::int64_t next = 0;
  std::int64_t steps = 0;
  Step step;  ///< the one at hand, once begun
  bool begun = false;
  Connection* in = nullptr;     ///< whose front message the step has taken
  std::int64_t consumed = 0;    ///< bytes of it
  bool passing_on = false;      ///< pieces are sent on as they come
  bool holds = false;           ///< … or kept until there is a slot,
  bool has_slot = false;        ///< which may come before the message is whole
  std::int64_t unsent = 0;      ///< tickets out
  std::vector<std::byte> kept;  ///< what a step that keeps nothing has to send on
  std::vector<Lane*> waiting;   ///< for this lane to get further
  std::deque<Connection*> any;  ///< connections with a message that no step has taken, by arrival
  bool receives_any = false;
  Clock::time_point began;
  Clock::time_point waited;
  Rank peer = -1;
  core::Lane peer_lane = -1;
};

struct Interpreter::Instance {
  CollectiveTag tag;
  const core::Collective* collective = nullptr;
  const core::Schedule* schedule = nullptr;
  Operation operation = Operation::kSum;
  std::int64_t item = 4;  ///< bytes of an element
  struct Local {
    std::byte* data = nullptr;
    std::vector<std::byte> scratch;
    std::vector<Lane> lanes;
    std::int32_t lanes_left = 0;
    bool started = false;
  };
  std::map<Rank, Local> ranks;  ///< of this process
  std::map<Channel, Connection> incoming;
  std::map<Channel, std::int32_t> slots_used;  ///< of outgoing connections with limited slots
  std::map<Channel, Lane*> waiting_for_slot;
};

Interpreter::Interpreter(Transport& transport, InterpreterListener& listener, bool watch_steps)
    : transport_(transport), listener_(listener), watch_steps_(watch_steps) {}
Interpreter::~Interpreter() = default;

// --- collectives ---

void Interpreter::open(CollectiveTag tag, const core::Collective& collective, Operation operation,
                       const std::vector<Rank>& ranks, const std::vector<std::byte*>& data) {
  TUTTI_CHECK(ranks.size() == data.size() && !instances_.contains(tag), "step {} pack {}: {} ranks, {} buffers",
              tag.step, tag.pack, ranks.size(), data.size());
  auto instance = std::make_unique<Instance>();
  instance->tag = tag;
  instance->collective = &collective;
  instance->schedule = collective.schedule.get();
  instance->operation = operation;
  instance->item = core::size_of(collective.type).count();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Rank rank = ranks[i];
    Instance::Local& local = instance->ranks[rank];
    local.data = data[i];
    local.scratch.resize(static_cast<std::size_t>(instance->schedule->scratch(rank) * instance->item));
    local.lanes.resize(static_cast<std::size_t>(instance->schedule->lanes(rank)));
    for (std::size_t l = 0; l < local.lanes.size(); ++l) {
      Lane& lane = local.lanes[l];
      lane.instance = instance.get();
      lane.rank = rank;
      lane.number = static_cast<core::Lane>(l);
      lane.steps = instance->schedule->steps(rank, lane.number);
      for (std::int64_t s = 0; s < lane.steps; ++s) {
        const StepKind kind = instance->schedule->step(rank, lane.number, s).kind;
        TUTTI_CHECK(kind != StepKind::kSwitchReduce, "rank {} lane {}: no switch adds here", rank, lane.number);
        if (!core::receives(kind)) continue;
        lane.receives_any = kind == StepKind::kReceiveAny;
        break;
      }
    }
  }
  instances_[tag] = std::move(instance);
}

void Interpreter::start(CollectiveTag tag, Rank rank) {
  Instance& instance = *find(tag);
  Instance::Local& local = instance.ranks.at(rank);
  local.started = true;
  local.lanes_left = static_cast<std::int32_t>(local.lanes.size());
  const Clock::time_point now = Clock::now();
  if (local.lanes.empty()) return listener_.rank_done(tag, rank);
  for (Lane& lane : local.lanes) {
    lane.began = lane.waited = now;
    make_ready(lane);
  }
}

void Interpreter::close(CollectiveTag tag) { instances_.erase(tag); }

Interpreter::Instance* Interpreter::find(CollectiveTag tag) {
  const auto found = instances_.find(tag);
  return found == instances_.end() ? nullptr : found->second.get();
}

Interpreter::Lane& Interpreter::lane_of(Instance& instance, Rank rank, core::Lane lane) {
  return instance.ranks.at(rank).lanes[static_cast<std::size_t>(lane)];
}

std::byte* Interpreter::at(const Lane& lane, const Range& range) const {
  Instance::Local& local = lane.instance->ranks.at(lane.rank);
  std::byte* const base = range.buffer == Buffer::kData ? local.data : local.scratch.data();
  return base + range.offset * lane.instance->item;
}

/// The connection that the step at hand sends on.
Channel Interpreter::outgoing(const Lane& lane) const {
  const core::Peer& to = lane.step.to;
  return {lane.instance->tag, lane.rank, lane.number, to.rank(lane.rank, lane.instance->schedule->ranks()), to.lane};
}

/// Where the step at hand receives to.
std::byte* Interpreter::target_of(const Lane& lane) const {
  Range target = lane.step.target;
  if (lane.step.kind == StepKind::kReceiveAny)
    target.offset += lane.step.stride * lane.instance->schedule->arrival_slot(lane.rank, lane.number, lane.peer);
  return at(lane, target);
}

// --- lanes ---

void Interpreter::make_ready(Lane& lane) {
  lane.state = Lane::State::kReady;
  if (lane.queued) return;
  lane.queued = true;
  ready_.push_back(&lane);
}

void Interpreter::run_ready() {
  while (!ready_.empty()) {
    Lane& lane = *ready_.front();
    ready_.pop_front();
    lane.queued = false;
    if (lane.state == Lane::State::kReady) run(lane);
  }
}

void Interpreter::run(Lane& lane) {
  while (lane.state == Lane::State::kReady) {
    if (lane.next == lane.steps) return finish(lane);
    if (!begin(lane)) return;
  }
}

/// Begins the step at hand, or goes on with it after a wait. False if the lane has to wait.
bool Interpreter::begin(Lane& lane) {
  Instance& instance = *lane.instance;
  if (!lane.begun) {
    lane.step = instance.schedule->step(lane.rank, lane.number, lane.next);
    if (lane.step.wait.lane >= 0) {
      Lane& other = lane_of(instance, lane.rank, lane.step.wait.lane);
      if (other.next < lane.step.wait.count) {
        lane.state = Lane::State::kOnLane;
        other.waiting.push_back(&lane);
        return false;
      }
    }
    lane.begun = true;
    lane.consumed = 0;
    lane.passing_on = lane.holds = false;
    lane.in = nullptr;
    lane.peer = lane.peer_lane = -1;
  }
  const Step& step = lane.step;
  const std::int64_t item = instance.item;
  if (core::receives(step.kind)) return take_message(lane);
  if (step.kind == StepKind::kSend) {
    if (!acquire_slot(lane, outgoing(lane))) return false;
    send_whole(lane, at(lane, step.source), step.source.count * item);
    return lane.state == Lane::State::kReady;
  }
  if (step.kind == StepKind::kMulticast) {
    send_multicast(lane);
    return lane.state == Lane::State::kReady;
  }
  work(lane);
  complete(lane);
  return true;
}

/// Reductions, copies and scaling inside the rank.
void Interpreter::work(Lane& lane) {
  const Instance& instance = *lane.instance;
  const Step& step = lane.step;
  const core::DataType type = instance.collective->type;
  const std::int64_t item = instance.item;
  std::byte* const target = at(lane, step.target);
  switch (step.kind) {
    case StepKind::kCopy:
      std::memmove(target, at(lane, step.source), static_cast<std::size_t>(step.target.count * item));
      return;
    case StepKind::kScale: return scale(type, target, step.target.count, step.factor);
    case StepKind::kReduce: {
      // In stretches that stay in the cache while all inputs are added to them.
      constexpr std::int64_t kStretch = 16 << 10;
      for (std::int64_t done = 0; done < step.target.count; done += kStretch) {
        const std::int64_t count = std::min(kStretch, step.target.count - done);
        const auto input = [&](std::int64_t i) {
          return at(lane, {step.source.buffer, step.source.offset + i * step.stride + done, count});
        };
        std::byte* const sum = target + done * item;
        std::int64_t first = 0;
        if (!step.accumulate) {
          first = 1;
          if (step.inputs > 1) {
            combine_to(instance.operation, type, sum, input(0), input(1), count);
            first = 2;
          } else {
            std::memmove(sum, input(0), static_cast<std::size_t>(count * item));
          }
        }
        for (std::int64_t i = first; i < step.inputs; ++i) combine(instance.operation, type, sum, input(i), count);
      }
      return;
    }
    case StepKind::kNop: return;
    default:
      TUTTI_CHECK(false, "rank {} lane {}: no work of kind {}", lane.rank, lane.number, static_cast<int>(step.kind));
  }
}

void Interpreter::complete(Lane& lane) {
  if (watch_steps_) {
    listener_.step_done({lane.instance->tag, lane.rank, lane.number, lane.next, lane.step, lane.began, lane.waited,
                         Clock::now(), lane.peer, lane.peer_lane});
  }
  ++lane.next;
  lane.begun = false;
  lane.state = Lane::State::kReady;
  if (watch_steps_) lane.began = lane.waited = Clock::now();
  if (lane.waiting.empty()) return;
  const std::vector<Lane*> waiting = std::exchange(lane.waiting, {});
  for (Lane* waiter : waiting) {
    if (lane.next >= waiter->step.wait.count) {
      waiter->waited = Clock::now();
      make_ready(*waiter);
    } else {
      lane.waiting.push_back(waiter);
    }
  }
}

void Interpreter::finish(Lane& lane) {
  lane.state = Lane::State::kDone;
  Instance::Local& local = lane.instance->ranks.at(lane.rank);
  if (--local.lanes_left == 0) listener_.rank_done(lane.instance->tag, lane.rank);
}

// --- sending ---

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
  lane.waited = Clock::now();
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
  send_whole(lane, kept ? lane.kept.data() : at(lane, lane.step.target), lane.step.target.count * lane.instance->item);
}

/// Hands `length` bytes of a message of `total`, from `offset` on, to the transport, piece by piece. A message without
/// bytes is one empty piece.
void Interpreter::send_pieces(Lane& lane, const Channel& channel, const std::byte* bytes, std::int64_t total,
                              std::int64_t offset, std::int64_t length) {
  std::int64_t done = 0;
  do {
    const std::int64_t part = std::min(kPieceBytes, length - done);
    ++lane.unsent;
    tickets_[++next_ticket_] = &lane;
    transport_.send({channel, total, offset + done, part}, bytes + done, next_ticket_);
    done += part;
  } while (done < length);
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
  const auto found = tickets_.find(ticket);
  if (found == tickets_.end()) return;
  Lane& lane = *found->second;
  tickets_.erase(found);
  if (--lane.unsent > 0 || lane.state != Lane::State::kSending) return;
  complete(lane);
  make_ready(lane);
}

// --- receiving ---

/// The lane is in the middle of a message of this connection. (Then it is the only one there: the next begins when this
/// one has come to its end, and so has been taken out.)
bool Interpreter::takes_from(const Lane& lane, const Connection& connection) {
  return lane.in == &connection && lane.state == Lane::State::kInMessage;
}

/// Takes the next message of the step's connection; goes on with what is there of it. False if there is more to come.
bool Interpreter::take_message(Lane& lane) {
  Instance& instance = *lane.instance;
  const Step& step = lane.step;
  if (!lane.in) {
    if (step.kind == StepKind::kReceiveAny) {
      if (lane.any.empty()) {
        lane.state = Lane::State::kOnMessage;
        return false;
      }
      lane.in = lane.any.front();
      lane.any.pop_front();
    } else {
      const Rank from = step.from.rank(lane.rank, instance.schedule->ranks());
      const Channel channel{instance.tag, from, step.from.lane, lane.rank, lane.number};
      Connection& connection = instance.incoming[channel];
      connection.channel = channel;
      if (connection.messages.empty()) {
        lane.state = Lane::State::kOnMessage;
        return false;
      }
      lane.in = &connection;
    }
  }
  Connection& connection = *lane.in;
  Inbound& message = connection.messages.front();
  lane.peer = connection.channel.from;
  lane.peer_lane = connection.channel.from_lane;
  if (message.total != step.target.count * instance.item) {
    failure_ = fmt::format("rank {} lane {} expects {} bytes from rank {} at step {} of pack {}, and {} come",
                           lane.rank, lane.number, step.target.count * instance.item, lane.peer, lane.next,
                           instance.tag.pack, message.total);
    lane.state = Lane::State::kFailed;
    return false;
  }
  lane.state = Lane::State::kInMessage;
  if (core::sends(step.kind)) {
    // Without a slot the whole message is taken first: its own slot must not wait for another one.
    lane.passing_on = acquire_slot(lane, outgoing(lane));
    lane.holds = !lane.passing_on;
    lane.has_slot = false;
    lane.state = Lane::State::kInMessage;
    if (step.kind == StepKind::kReceiveReduceSend) lane.kept.resize(static_cast<std::size_t>(message.total));
  }
  const std::int64_t here = message.received;
  if (here > 0 || message.total == 0) consume(lane, message.buffer.data(), 0, here, true);
  return lane.state == Lane::State::kReady;
}

/// If the step at hand has taken the message, or waits for just it, the bytes go where the step wants them, or to a
/// piece's room from which they are reduced at once; else they are kept until their step comes.
std::byte* Interpreter::place(const Piece& piece) {
  static std::byte nowhere;
  Instance* const instance = find(piece.channel.collective);
  if (!instance) return nullptr;
  const auto local = instance->ranks.find(piece.channel.to);
  if (local == instance->ranks.end() || piece.channel.to_lane < 0 ||
      piece.channel.to_lane >= static_cast<core::Lane>(local->second.lanes.size()) || piece.channel.from < 0 ||
      piece.channel.from >= instance->schedule->ranks() || piece.channel.from_lane < 0 ||
      piece.channel.from_lane >= instance->schedule->lanes(piece.channel.from)) {
    return nullptr;
  }
  const std::int64_t most = instance->collective->bytes().count();
  if (piece.total < 0 || piece.total > most || piece.offset < 0 || piece.length < 0 ||
      piece.length > piece.total - piece.offset || piece.length % instance->item != 0) {
    return nullptr;
  }
  Lane& lane = local->second.lanes[static_cast<std::size_t>(piece.channel.to_lane)];
  Connection& connection = instance->incoming[piece.channel];
  connection.channel = piece.channel;
  if (piece.offset == 0) {
    if (!connection.messages.empty() && connection.messages.back().received < connection.messages.back().total)
      return nullptr;
    // More than there are steps to take them, or slots to wait in, are not of this schedule.
    const auto waiting = static_cast<std::int64_t>(connection.messages.size());
    if (waiting >= instance->schedule->credits(lane.rank, lane.number) || connection.begun++ >= lane.steps)
      return nullptr;
    connection.messages.push_back({piece.total, 0, {}, nullptr, false});
    if (lane.receives_any) lane.any.push_back(&connection);
  } else if (connection.messages.empty() || connection.messages.back().received != piece.offset ||
             connection.messages.back().total != piece.total) {
    return nullptr;
  }
  // The lane may be waiting for just this; then it takes the message now, and the bytes need not be kept.
  if (piece.offset == 0 && lane.state == Lane::State::kOnMessage) {
    const bool wanted = lane.step.kind == StepKind::kReceiveAny ||
                        (lane.step.from.rank(lane.rank, instance->schedule->ranks()) == piece.channel.from &&
                         lane.step.from.lane == piece.channel.from_lane);
    if (wanted) {
      if (watch_steps_) lane.waited = Clock::now();
      if (piece.total > 0) {
        lane.state = Lane::State::kReady;
        take_message(lane);
      } else {
        make_ready(lane);
      }
    }
  }
  Inbound& message = connection.messages.back();
  const bool taken = takes_from(lane, connection);
  // Between here and arrived() the step may come to take the message; what was decided here stands.
  message.in_place = false;
  if (piece.length == 0) return &nowhere;
  const bool plain = lane.step.kind == StepKind::kReceive || lane.step.kind == StepKind::kReceiveSend ||
                     lane.step.kind == StepKind::kReceiveAny;
  if (taken && plain) {
    message.placed = target_of(lane) + piece.offset;
    message.in_place = true;
  } else if (taken) {
    // Reduced from here at once, so that one piece's room is enough.
    if (message.buffer.size() < static_cast<std::size_t>(piece.length))
      message.buffer.resize(static_cast<std::size_t>(piece.length));
    message.placed = message.buffer.data();
  } else {
    if (message.buffer.size() < static_cast<std::size_t>(piece.total))
      message.buffer.resize(static_cast<std::size_t>(piece.total));
    message.placed = message.buffer.data() + piece.offset;
  }
  return message.placed;
}

void Interpreter::arrived(const Piece& piece) {
  Instance& instance = *find(piece.channel.collective);
  Connection& connection = instance.incoming[piece.channel];
  Lane& lane = lane_of(instance, piece.channel.to, piece.channel.to_lane);
  Inbound& message = connection.messages.back();
  message.received = piece.offset + piece.length;
  if (!takes_from(lane, connection)) return;
  consume(lane, message.placed, piece.offset, piece.length, !message.in_place);
  if (lane.state == Lane::State::kReady) make_ready(lane);
}

/// `length` bytes of the message at hand are at `bytes`: does with them what the step says. `buffered`: that is not yet
/// where the step wants them.
void Interpreter::consume(Lane& lane, std::byte* bytes, std::int64_t offset, std::int64_t length, bool buffered) {
  Instance& instance = *lane.instance;
  const Step& step = lane.step;
  const core::DataType type = instance.collective->type;
  const std::int64_t count = length / instance.item;
  TUTTI_CHECK(offset == lane.consumed, "rank {} lane {}: byte {} after {}", lane.rank, lane.number, offset,
              lane.consumed);
  const std::byte* result = nullptr;
  if (length > 0) {
    switch (step.kind) {
      case StepKind::kReceiveReduceSend: {
        std::byte* const kept = lane.kept.data() + offset;
        combine_to(instance.operation, type, kept, at(lane, step.source) + offset, bytes, count);
        result = kept;
        break;
      }
      case StepKind::kReceiveReduce:
      case StepKind::kReceiveReduceCopySend: {
        std::byte* const sum = target_of(lane) + offset;
        combine(instance.operation, type, sum, bytes, count);
        result = sum;
        break;
      }
      default: {
        std::byte* const to = target_of(lane) + offset;
        if (buffered) std::memcpy(to, bytes, static_cast<std::size_t>(length));
        result = to;
      }
    }
  }
  lane.consumed += length;
  const std::int64_t total = lane.in->messages.front().total;
  if (lane.passing_on) send_pieces(lane, outgoing(lane), result, total, offset, length);
  if (lane.consumed == total) after_message(lane);
}

/// The message was reduced or kept to the end: its slot is free, and if it goes on, that is what is left to do.
void Interpreter::after_message(Lane& lane) {
  Connection& connection = *lane.in;
  connection.messages.pop_front();
  lane.in = nullptr;
  if (lane.instance->schedule->credits(lane.rank, lane.number) != core::kUnlimitedCredits)
    transport_.free_slot(connection.channel);
  if (lane.holds && lane.has_slot) return send_held(lane);
  if (lane.holds) {
    lane.state = Lane::State::kOnSlot;
    return;
  }
  if (lane.unsent > 0) {
    lane.state = Lane::State::kSending;
    return;
  }
  complete(lane);
}

std::string Interpreter::where_it_stands() const {
  std::string text;
  int listed = 0;
  for (const auto& [tag, instance] : instances_) {
    for (const auto& [rank, local] : instance->ranks) {
      if (!local.started) continue;
      for (const Lane& lane : local.lanes) {
        const char* state = nullptr;
        switch (lane.state) {
          case Lane::State::kOnLane: state = "waits for another lane"; break;
          case Lane::State::kOnMessage: state = "waits for a message"; break;
          case Lane::State::kInMessage: state = "is in the middle of a message"; break;
          case Lane::State::kOnSlot: state = "waits for a free slot"; break;
          case Lane::State::kSending: state = "is sending"; break;
          default: continue;
        }
        if (++listed > 4) return text + ", …";
        text += fmt::format(
            "{}rank {} lane {} {} (pack {}, step {} of {}{})", text.empty() ? "" : ", ", rank, lane.number, state,
            tag.pack, lane.next, lane.steps,
            lane.step.kind == StepKind::kReceiveAny || !core::receives(lane.step.kind)
                ? ""
                : fmt::format(", from rank {}", lane.step.from.rank(lane.rank, instance->schedule->ranks())));
      }
    }
  }
  return text;
}

}  // namespace tutti::real
