#include "sim/interpreter.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::sim {

using core::Bytes;
using core::Lane;
using core::Rank;
using core::Step;
using core::StepKind;
using core::Time;

// --- instances ---

std::uint32_t Interpreter::open(const core::Collective& collective) {
  std::uint32_t id = static_cast<std::uint32_t>(instances_.size());
  if (free_instances_.empty()) {
    instances_.emplace_back();
  } else {
    id = free_instances_.back();
    free_instances_.pop_back();
  }
  auto instance = std::make_unique<Instance>();
  instance->id = id;
  instance->collective = &collective;
  instance->schedule = collective.schedule.get();
  instance->serial = ++serial_ & 0xfff'ffff;  // its place in the key of events
  const core::Schedule& schedule = *instance->schedule;
  std::int64_t lanes = 0;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    instance->first_lane.push_back(static_cast<std::int32_t>(lanes));
    lanes += schedule.lanes(rank);
    TUTTI_CHECK(lanes <= kMostLanes, "{} lanes up to rank {}", lanes, rank);
  }
  instance->first_lane.push_back(static_cast<std::int32_t>(lanes));
  instance->lanes.resize(static_cast<std::size_t>(lanes));
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane l = 0; l < schedule.lanes(rank); ++l) {
      // Messages may come before the rank has started.
      LaneState& state = lane_at(*instance, lane_number(*instance, rank, l));
      state.rank = rank;
      state.lane = l;
      state.steps = schedule.steps(rank, l);
    }
  }
  instance->trails.resize(static_cast<std::size_t>(lanes));
  instance->lanes_left.resize(static_cast<std::size_t>(schedule.ranks()));
  instances_[id] = std::move(instance);
  return id;
}

void Interpreter::start(std::uint32_t id, Rank rank, Time now) {
  Instance& instance = *instances_[id];
  std::int32_t to_do = 0;
  for (Lane l = 0; l < instance.schedule->lanes(rank); ++l) {
    const std::int32_t lane = lane_number(instance, rank, l);
    LaneState& state = lane_at(instance, lane);
    state.ready = now;
    state.began = now;
    trail_at(instance, lane).origin = rank;
    if (state.steps == 0) {
      state.blocked = Blocked::kDone;
      continue;
    }
    ++to_do;
    schedule_lane(instance, lane, now);
  }
  instance.lanes_left[static_cast<std::size_t>(rank)] = to_do;
  if (to_do > 0) return;
  Trail trail;
  trail.origin = rank;
  listener_.rank_done(id, rank, now, trail);
}

void Interpreter::close(std::uint32_t id) {
  instances_[id].reset();
  free_instances_.push_back(id);
}

// --- events ---

/// Ties between events are broken by collective, then rank and lane, then the order in which the lane sent.
std::uint64_t Interpreter::order_of(Instance& instance, std::int32_t lane) {
  const std::uint64_t sent = ++lane_at(instance, lane).sent & 0xfff;  // 0 is the lane itself
  return instance.serial << 36 | static_cast<std::uint64_t>(lane) << 12 | sent;
}

void Interpreter::schedule_lane(Instance& instance, std::int32_t lane, Time at) {
  lane_at(instance, lane).blocked = Blocked::kNo;
  events_.push({at, instance.serial << 36 | static_cast<std::uint64_t>(lane) << 12, EventKind::kLane, instance.id,
                static_cast<std::uint32_t>(lane)});
}

void Interpreter::go_on(const Event& event) {
  run(*instances_[event.a], static_cast<std::int32_t>(event.b), event.time);
}

void Interpreter::deliver(const Event& event) {
  const Network::Arrival arrival = network_.deliver(event);
  Instance& instance = *instances_[arrival.address.instance];
  const auto id = static_cast<std::int32_t>(arrival.address.connection);
  Connection& connection = instance.connections[arrival.address.connection];
  ++connection.arrived;
  const std::int32_t lane = connection.to;
  LaneState& state = lane_at(instance, lane);
  const bool awaited =
      (state.blocked == Blocked::kOnMessage && state.last_in == id) || state.blocked == Blocked::kOnAnyMessage;
  if (receives_any(instance, lane)) instance.arrived_any[lane].push_back(id);
  if (!awaited) return;
  state.wait = std::max(Time(), arrival.began_moving - state.began);
  if (event.time < state.ready) return schedule_lane(instance, lane, state.ready);
  if (event.time > state.ready) trail_at(instance, lane) = arrival.trail;
  state.blocked = Blocked::kNo;
  run(instance, lane, event.time);
}

/// The lane goes on that waited for its message to leave.
void Interpreter::buffer_free(const Event& event) {
  const Network::Departure departure = network_.departed(event);
  Instance& instance = *instances_[departure.address.instance];
  const std::int32_t lane = instance.connections[departure.address.connection].from;
  LaneState& state = lane_at(instance, lane);
  if (state.blocked != Blocked::kOnWire) return;  // a switch's reduction: it waits for the result
  const core::Path::Stretch& way = network_.paths().path(departure.path).stretches.front();
  const Time moving = std::min(event.time - departure.sent, transfer_time(departure.bytes, way.narrowest));
  Trail& trail = trail_at(instance, lane);
  trail.moved(way.kind, way.link, moving);
  trail.queued(departure.bottleneck >= 0 ? departure.bottleneck : way.link, event.time - departure.sent - moving);
  state.blocked = Blocked::kNo;
  complete_step(instance, lane, instance.schedule->step(state.rank, state.lane, state.next), event.time);
  run(instance, lane, event.time);
}

/// A lane that receives in the order of arrival receives in no other way, so its first receive tells.
bool Interpreter::receives_any(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  for (std::int64_t i = 0; i < state.steps && state.receiving == Receiving::kUnknown; ++i) {
    const StepKind kind = instance.schedule->step(state.rank, state.lane, i).kind;
    if (receives(kind)) state.receiving = kind == StepKind::kReceiveAny ? Receiving::kAny : Receiving::kInOrder;
  }
  return state.receiving == Receiving::kAny;
}

// --- lanes ---

void Interpreter::run(Instance& instance, std::int32_t lane, Time now) {
  while (run_step(instance, lane, now)) {
  }
}

/// Does what can be done of the lane's next step. True if the lane can go on at once; false if it is blocked, scheduled
/// for later, or through (then the instance may be gone).
bool Interpreter::run_step(Instance& instance, std::int32_t lane, Time now) {
  LaneState& state = lane_at(instance, lane);
  if (state.next == state.steps) {
    if (now < state.ready) {
      schedule_lane(instance, lane, state.ready);
    } else {
      finish_lane(instance, lane);
    }
    return false;
  }
  const Step step = instance.schedule->step(state.rank, state.lane, state.next);

  if (state.phase == Phase::kFresh) {
    if (now < state.ready) {
      // Ahead of the clock: nothing that others see may happen yet, but finding out that a message is missing may.
      const bool may_look = receives(step.kind) && step.wait.lane < 0;
      if (may_look && !take_message(instance, lane, step)) return false;
      if (may_look) state.phase = Phase::kWorking;
      schedule_lane(instance, lane, state.ready);
      return false;
    }
    if (step.wait.lane >= 0 && !wait_fulfilled(instance, lane, step.wait, now)) return false;
    if (receives(step.kind) && !take_message(instance, lane, step)) return false;
    if (step.kind == StepKind::kSwitchReduce) return switch_reduce(instance, lane, step, now);
    state.phase = Phase::kWorking;
  }
  if (state.phase == Phase::kWorking) {
    state.phase = Phase::kWorked;
    if (work(instance, lane, step, now)) return false;
  }
  if (state.in_hand != kNone) free_slot(instance, lane, now);
  if (step.kind == StepKind::kMulticast) return multicast(instance, lane, step, now);
  if (sends(step.kind)) return send(instance, lane, step, now);
  complete_step(instance, lane, step, now);
  return true;
}

bool Interpreter::wait_fulfilled(Instance& instance, std::int32_t lane, const core::Wait& wait, Time now) {
  LaneState& state = lane_at(instance, lane);
  const std::int32_t other = lane_number(instance, state.rank, wait.lane);
  LaneState& awaited = lane_at(instance, other);
  if (awaited.next < wait.count) {
    state.blocked = Blocked::kOnLane;
    state.awaited_steps = wait.count;
    state.next_waiter = awaited.first_waiter;
    awaited.wake_at = awaited.first_waiter == kNone ? wait.count : std::min(awaited.wake_at, wait.count);
    awaited.first_waiter = lane;
    return false;
  }
  if (awaited.next == wait.count && awaited.ready > now) {
    trail_at(instance, lane) = trail_at(instance, other);
    state.wait = awaited.ready - state.began;
    schedule_lane(instance, lane, awaited.ready);
    return false;
  }
  return true;
}

/// Takes the message that the step receives out of its connection; blocks the lane if it has not arrived.
bool Interpreter::take_message(Instance& instance, std::int32_t lane, const Step& step) {
  LaneState& state = lane_at(instance, lane);
  if (step.kind == StepKind::kReceiveAny) {
    std::deque<std::int32_t>& queue = instance.arrived_any[lane];
    if (queue.empty()) {
      state.blocked = Blocked::kOnAnyMessage;
      return false;
    }
    state.last_in = queue.front();
    queue.pop_front();
  } else {
    const Rank peer = step.from.rank(state.rank, instance.schedule->ranks());
    state.last_in = connection(instance, lane_number(instance, peer, step.from.lane), lane);
    if (instance.connections[static_cast<std::size_t>(state.last_in)].arrived == 0) {
      state.blocked = Blocked::kOnMessage;
      return false;
    }
  }
  Connection& in = instance.connections[static_cast<std::size_t>(state.last_in)];
  --in.arrived;
  state.in_hand = state.last_in;
  if (watch_steps_) {
    state.peer_index = in.sender_steps[in.sender_steps_taken++];
    if (in.sender_steps_taken == in.sender_steps.size()) in.sender_steps.clear(), in.sender_steps_taken = 0;
  }
  return true;
}

/// Reductions and copies of the step. True if they take time: then the lane is scheduled for their end.
bool Interpreter::work(Instance& instance, std::int32_t lane, const Step& step, Time now) {
  LaneState& state = lane_at(instance, lane);
  const core::PartId device = device_of(instance, state.rank);
  const Bytes bytes = bytes_of(instance, step.target.count);
  Server::Service service{now, now};
  Time core::Breakdown::*part = &core::Breakdown::reduce;
  if (reduces_received(step.kind)) {
    service = devices_.reduce(device, bytes, 2, now);
  } else if (step.kind == StepKind::kReduce) {
    service = devices_.reduce(device, bytes, step.inputs + (step.accumulate ? 1 : 0), now);
  } else if (step.kind == StepKind::kCopy || step.kind == StepKind::kScale) {
    service = devices_.copy(device, bytes, now);
    part = &core::Breakdown::copy;
  }
  if (service.end == now) return false;
  Trail& trail = trail_at(instance, lane);
  trail.parts.queue += service.start - now;
  trail.parts.*part += service.end - service.start;
  schedule_lane(instance, lane, service.end);
  return true;
}

bool Interpreter::send(Instance& instance, std::int32_t lane, const Step& step, Time now) {
  LaneState& state = lane_at(instance, lane);
  const Rank peer = step.to.rank(state.rank, instance.schedule->ranks());
  const std::int32_t to = lane_number(instance, peer, step.to.lane);
  if (state.last_out == kNone || instance.connections[static_cast<std::size_t>(state.last_out)].to != to) {
    state.last_out = connection(instance, lane, to);
  }
  Connection& out = instance.connections[static_cast<std::size_t>(state.last_out)];
  if (out.occupied >= instance.schedule->credits(peer, step.to.lane)) {
    out.blocked_sender = lane;
    state.blocked = Blocked::kOnSlot;
    return false;
  }
  ++out.occupied;
  if (watch_steps_) out.sender_steps.push_back(state.next);
  const std::int32_t path = path_of(instance, out);
  const Bytes bytes = bytes_of(instance, step.source.count);
  const Address address{instance.id, static_cast<std::uint32_t>(state.last_out)};
  const Time buffer_free =
      network_.send(path, bytes, now, order_of(instance, lane), address, trail_at(instance, lane), events_);
  if (buffer_free == core::kNever) {
    state.blocked = Blocked::kOnWire;
    return false;
  }
  sent(instance, lane, path, bytes, now, buffer_free);
  complete_step(instance, lane, step, buffer_free);
  return true;
}

/// The lane's trail up to the moment when its buffer is free again.
void Interpreter::sent(Instance& instance, std::int32_t lane, std::int32_t path, Bytes bytes, Time now,
                       Time buffer_free) {
  const core::Path& way = network_.paths().path(path);
  if (way.hops.empty()) return;
  const core::PathHop& first = way.hops[way.roots.front()];
  const Time moving = std::min(buffer_free - now, transfer_time(bytes, first.rate));
  Trail& trail = trail_at(instance, lane);
  trail.moved(way.stretches.front().kind, way.stretches.front().link, moving);
  trail.queued(first.link, buffer_free - now - moving);
}

bool Interpreter::multicast(Instance& instance, std::int32_t lane, const Step& step, Time now) {
  LaneState& state = lane_at(instance, lane);
  std::vector<std::int32_t> connections;
  std::vector<core::PartId> devices;
  for (std::int32_t i = 0; i < step.group.count; ++i) {
    const Rank peer = step.group.at(i);
    if (peer == state.rank) continue;
    connections.push_back(connection(instance, lane, lane_number(instance, peer, step.to.lane)));
    devices.push_back(device_of(instance, peer));
    Connection& out = instance.connections[static_cast<std::size_t>(connections.back())];
    if (out.occupied < instance.schedule->credits(peer, step.to.lane)) continue;
    out.blocked_sender = lane;
    state.blocked = Blocked::kOnSlot;
    return false;
  }
  const Bytes bytes = bytes_of(instance, step.source.count);
  Time buffer_free = now;
  if (!devices.empty()) {
    std::vector<Address> addresses;
    for (const std::int32_t c : connections) {
      Connection& out = instance.connections[static_cast<std::size_t>(c)];
      ++out.occupied;
      if (watch_steps_) out.sender_steps.push_back(state.next);
      addresses.push_back({instance.id, static_cast<std::uint32_t>(c)});
    }
    const std::int32_t path = network_.paths().multicast(device_of(instance, state.rank), devices);
    buffer_free = network_.send(path, bytes, now, order_of(instance, lane), std::move(addresses),
                                trail_at(instance, lane), events_);
    if (buffer_free == core::kNever) {
      state.blocked = Blocked::kOnWire;
      return false;
    }
    sent(instance, lane, path, bytes, now, buffer_free);
  }
  complete_step(instance, lane, step, buffer_free);
  return true;
}

/// Fresh: starts the reduction, whose result comes as a message from the lane to itself. Called again by run_step once
/// that has arrived.
bool Interpreter::switch_reduce(Instance& instance, std::int32_t lane, const Step& step, Time now) {
  LaneState& state = lane_at(instance, lane);
  const std::int32_t own = connection(instance, lane, lane);
  Connection& result = instance.connections[static_cast<std::size_t>(own)];
  if (result.arrived > 0) {
    --result.arrived;
    complete_step(instance, lane, step, now);
    return true;
  }
  std::vector<core::PartId> devices;
  for (std::int32_t i = 0; i < step.group.count; ++i) devices.push_back(device_of(instance, step.group.at(i)));
  const std::int32_t path = network_.paths().switch_reduce(devices, device_of(instance, state.rank));
  std::vector<Address> address{{instance.id, static_cast<std::uint32_t>(own)}};
  network_.send(path, bytes_of(instance, step.source.count), now, order_of(instance, lane), std::move(address),
                trail_at(instance, lane), events_);
  state.last_in = own;
  state.blocked = Blocked::kOnMessage;
  return false;
}

void Interpreter::complete_step(Instance& instance, std::int32_t lane, const Step& step, Time end) {
  LaneState& state = lane_at(instance, lane);
  ++steps_executed_;
  if (watch_steps_) {
    StepDone done{instance.id, state.rank, state.lane, state.next, step, state.began, state.wait, end, -1, -1, -1};
    if (receives(step.kind)) {
      const LaneState& sender = lane_at(instance, instance.connections[static_cast<std::size_t>(state.last_in)].from);
      done.peer = sender.rank;
      done.peer_lane = sender.lane;
      done.peer_index = state.peer_index;
    }
    listener_.step_done(done);
  }
  ++state.next;
  state.phase = Phase::kFresh;
  state.ready = end;
  state.began = end;
  state.wait = Time();
  if (state.first_waiter != kNone && state.next >= state.wake_at) wake_waiters(instance, lane);
}

/// The slot of the message in hand is free again; whoever waits for one at the same connection goes on.
void Interpreter::free_slot(Instance& instance, std::int32_t lane, Time now) {
  LaneState& state = lane_at(instance, lane);
  Connection& in = instance.connections[static_cast<std::size_t>(std::exchange(state.in_hand, kNone))];
  --in.occupied;
  const std::int32_t sender = std::exchange(in.blocked_sender, kNone);
  if (sender == kNone) return;
  LaneState& waiting = lane_at(instance, sender);
  if (now > waiting.ready) trail_at(instance, sender) = trail_at(instance, lane);
  waiting.wait = std::max(waiting.wait, now - waiting.began);
  schedule_lane(instance, sender, std::max(now, waiting.ready));
}

void Interpreter::wake_waiters(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  std::int32_t waiter = std::exchange(state.first_waiter, kNone);
  while (waiter != kNone) {
    LaneState& waiting = lane_at(instance, waiter);
    const std::int32_t next = waiting.next_waiter;
    if (state.next < waiting.awaited_steps) {
      waiting.next_waiter = state.first_waiter;
      state.wake_at =
          state.first_waiter == kNone ? waiting.awaited_steps : std::min(state.wake_at, waiting.awaited_steps);
      state.first_waiter = waiter;
    } else {
      if (state.ready > waiting.ready) trail_at(instance, waiter) = trail_at(instance, lane);
      waiting.wait = std::max(Time(), state.ready - waiting.began);
      schedule_lane(instance, waiter, std::max(state.ready, waiting.ready));
    }
    waiter = next;
  }
}

void Interpreter::finish_lane(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  state.blocked = Blocked::kDone;
  if (--instance.lanes_left[static_cast<std::size_t>(state.rank)] > 0) return;
  listener_.rank_done(instance.id, state.rank, state.ready, trail_at(instance, lane));
}

// --- connections ---

std::int32_t Interpreter::connection(Instance& instance, std::int32_t from, std::int32_t to) {
  const LaneState& receiver = lane_at(instance, to);
  if (receiver.last_in != kNone) {
    const Connection& last = instance.connections[static_cast<std::size_t>(receiver.last_in)];
    if (last.from == from && last.to == to) return receiver.last_in;
  }
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  const auto [known, fresh] =
      instance.connection_ids.try_emplace(key, static_cast<std::int32_t>(instance.connections.size()));
  if (fresh) {
    Connection connection;
    connection.from = from;
    connection.to = to;
    instance.connections.push_back(std::move(connection));
  }
  return known->second;
}

std::int32_t Interpreter::path_of(Instance& instance, Connection& connection) {
  if (connection.path == kNone) {
    // A rank that has not started has not filled in its lanes: find it by number.
    const auto receiver = std::upper_bound(instance.first_lane.begin(), instance.first_lane.end() - 1, connection.to) -
                          instance.first_lane.begin() - 1;
    const LaneState& sender = lane_at(instance, connection.from);
    connection.path =
        network_.paths().unicast(device_of(instance, sender.rank), device_of(instance, static_cast<Rank>(receiver)),
                                 instance.collective->staging, instance.schedule->engine(sender.rank, sender.lane));
  }
  return connection.path;
}

}  // namespace tutti::sim
