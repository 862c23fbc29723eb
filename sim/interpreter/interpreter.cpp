// A lane is a state machine. `phase` is the progress of the lane within its current step: before
// its input, working, or work done. `blocked` names the event for which the lane waits. run_step()
// advances a lane until it is blocked or time must pass. A blocked lane is continued by exactly one
// event, message or other lane. `ready` is the lane's own clock, which may be ahead of the virtual
// time. A lane that is ahead has already executed everything that other components cannot observe,
// and continues at the time `ready`. Connections are created on first use. Each lane stores the
// connection that it last used in each direction, so a step of a ring needs no hash table. Lanes
// that wait for the same lane form a linked list, which needs no memory allocation. instances.cpp
// opens and closes collectives, sharing.cpp slows down computation, and interpreter_state.cpp lets
// rounds.h skip identical rounds.

#include "sim/interpreter/interpreter.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::sim {
using core::Bytes;
using core::Lane;
using core::Rank;
using core::Step;
using core::StepKind;
using core::Time;

// --- events ---

/// Returns the order key for the next message that the lane sends.
std::uint64_t Interpreter::order_of(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  return event_order(instance.serial, state.turn, ++state.sent);
}

void Interpreter::schedule_lane(Instance& instance, std::int32_t lane, Time at) {
  LaneState& state = lane_at(instance, lane);
  state.blocked = Blocked::kNo;
  events_.push({at, event_order(instance.serial, state.turn, 0), EventKind::kLane, instance.id,
                static_cast<std::uint32_t>(lane)});
}

void Interpreter::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kLane: return go_on(event);
    case EventKind::kDeliver: return deliver(event);
    case EventKind::kArrive: return arrive(event);
    case EventKind::kSent: return buffer_free(event);
    default: TUTTI_CHECK(false, "an event of kind {}", static_cast<int>(event.kind));
  }
}

void Interpreter::go_on(const Event& event) {
  run(*instances_[event.a], static_cast<std::int32_t>(event.b), event.time);
}

void Interpreter::deliver(const Event& event) {
  const Network::Arrival arrival = network_.deliver(event);
  arrived(arrival.address, event.time, &arrival);
}

void Interpreter::arrive(const Event& event) { arrived({event.a, event.b}, event.time, nullptr); }

/// Handles the arrival of a message. `arrival` is the record of the arrival; null if it is not
/// needed.
void Interpreter::arrived(Address address, Time now, const Network::Arrival* arrival) {
  Instance& instance = *instances_[address.instance];
  const auto id = static_cast<std::int32_t>(address.connection);
  Connection& connection = instance.connections[address.connection];
  if (ties_) ties_->comes_from(connection.away);
  ++connection.arrived;
  const std::int32_t lane = connection.to;
  LaneState& state = lane_at(instance, lane);
  const bool awaited = (state.blocked == Blocked::kOnMessage && state.last_in == id) ||
                       state.blocked == Blocked::kOnAnyMessage;
  if (receives_any(instance, lane)) arrivals_of(instance, state).connections.push_back(id);
  if (!awaited) return;
  if (watch_steps_) waited(instance, lane, std::max(Time(), arrival->began_moving - state.ready));
  if (now < state.ready) return schedule_lane(instance, lane, state.ready);
  if (now > state.ready && network_.keeps_causal_chains())
    causal_chain_at(instance, lane) = *arrival->causal_chain;
  state.blocked = Blocked::kNo;
  run(instance, lane, now);
}

/// Continues a lane that waited until its message had left its buffer.
void Interpreter::buffer_free(const Event& event) {
  const Network::Departure departure = network_.departed(event);
  Instance& instance = *instances_[departure.address.instance];
  const std::int32_t lane = instance.connections[departure.address.connection].from;
  LaneState& state = lane_at(instance, lane);
  // A lane that takes part in an in-switch reduction does not continue here, because it waits for
  // the result.
  if (state.blocked != Blocked::kOnWire) return;
  if (network_.keeps_causal_chains()) {
    const core::Path::PathSegment& way = network_.paths().path(departure.path).segments.front();
    const Time moving =
        std::min(event.time - departure.sent, transfer_time(departure.bytes, way.narrowest));
    CausalChain& causal_chain = causal_chain_at(instance, lane);
    causal_chain.moved(way.kind, way.link, moving);
    causal_chain.queued(departure.bottleneck >= 0 ? departure.bottleneck : way.link,
                        event.time - departure.sent - moving);
  }
  state.blocked = Blocked::kNo;
  complete_step(instance, lane, event.time);
  run(instance, lane, event.time);
}

/// True if the lane receives messages in the order in which they arrive. Only the lane's first
/// receive is examined, because all receives of a lane are of the same kind.
bool Interpreter::receives_any(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  for (std::int64_t i = 0; i < state.steps && state.receiving == Receiving::kUnknown; ++i) {
    const StepKind kind = instance.schedule->step(state.rank, state.lane, i).kind;
    if (receives(kind))
      state.receiving = kind == StepKind::kReceiveAny ? Receiving::kAny : Receiving::kInOrder;
  }
  // The lane has no receive: an incorrect algorithm may send messages to such a lane. Store a
  // result, so that the steps of the lane are not searched again.
  if (state.receiving == Receiving::kUnknown) state.receiving = Receiving::kInOrder;
  return state.receiving == Receiving::kAny;
}

Interpreter::Arrivals& Interpreter::arrivals_of(Instance& instance, LaneState& state) {
  if (state.arrivals == kNone) {
    state.arrivals = static_cast<std::int32_t>(instance.arrivals.size());
    instance.arrivals.emplace_back();
  }
  return instance.arrivals[state.arrivals];
}

// --- lanes ---

void Interpreter::look_up_step(const Instance& instance, LaneState& state) {
  const core::Schedule& schedule = *instance.schedule;
  const Step step = schedule.step(state.rank, state.lane, state.next);
  StepFields& fields = state.step;
  fields.kind = step.kind;
  fields.accumulate = step.accumulate;
  fields.inputs = step.inputs;
  fields.wait_lane = step.wait.lane;
  fields.wait_count = step.wait.count;
  fields.source = bytes_of(instance, step.source.count);
  fields.target = bytes_of(instance, step.target.count);
  const auto ranks = static_cast<std::int32_t>(instance.first_lane.size()) - 1;
  fields.from_away = step.from.away;
  fields.to_away = step.to.away;
  if (receives(step.kind) && step.kind != StepKind::kReceiveAny)
    fields.from = lane_number(instance, step.from.rank(state.rank, ranks), step.from.lane);
  if (sends(step.kind) && step.kind != StepKind::kMulticast)
    fields.to = lane_number(instance, step.to.rank(state.rank, ranks), step.to.lane);
  state.step_known = true;
}

void Interpreter::run(Instance& instance, std::int32_t lane, Time now) {
  const DeviceFaults& device_faults = devices_.device_faults();
  if (device_faults.loses_workers() &&
      device_faults.gone(device_of(instance, lane_at(instance, lane).rank).worker, now))
    return;
  while (run_step(instance, lane, now)) {
  }
}

/// Executes the lane's next step as far as possible. Returns true if the lane can continue
/// immediately. Returns false if the lane is blocked, is scheduled for later, or has completed. If
/// it has completed, the instance may have been deleted.
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
  const StepFields& step = step_at_hand(instance, state);

  if (state.phase == Phase::kFresh) {
    if (now < state.ready) {
      // The lane is ahead of the clock, so it must not yet do anything that other components can
      // observe. However, if the lane is about to receive a message that has not arrived, it can be
      // blocked now.
      const bool may_look = receives(step.kind) && step.wait_lane < 0;
      if (may_look && !take_message(instance, lane, step)) return false;
      if (may_look) state.phase = Phase::kWorking;
      schedule_lane(instance, lane, state.ready);
      return false;
    }
    if (step.wait_lane >= 0 && !wait_fulfilled(instance, lane, now)) return false;
    if (devices_.any_shared() && step.kind != StepKind::kNop)
      take_multiprocessor(instance, state, now);
    if (receives(step.kind) && !take_message(instance, lane, step)) return false;
    if (step.kind == StepKind::kSwitchReduce) return switch_reduce(instance, lane, step, now);
    state.phase = Phase::kWorking;
  }
  if (state.phase == Phase::kWorking) {
    state.phase = Phase::kWorked;
    if (devices_.any_shared()) move_in_memory(instance, state, step, now);
    if (work(instance, lane, step, now)) return false;
  }
  if (state.held_connection != kNone) free_slot(instance, lane, now);
  if (step.kind == StepKind::kMulticast) return multicast(instance, lane, step, now);
  if (sends(step.kind)) return send(instance, lane, step, now);
  complete_step(instance, lane, now);
  return true;
}

bool Interpreter::wait_fulfilled(Instance& instance, std::int32_t lane, Time now) {
  LaneState& state = lane_at(instance, lane);
  const std::int64_t count = state.step.wait_count;
  const std::int32_t other = lane_number(instance, state.rank, state.step.wait_lane);
  LaneState& awaited = lane_at(instance, other);
  if (awaited.next < count) {
    state.blocked = Blocked::kOnLane;
    add_waiter(instance, other, lane, count);
    return false;
  }
  // The awaited lane may be ahead of the clock. In this case, the awaited lane's last step counts
  // as completed only when the clock has reached the end of the step.
  if (awaited.next == count && awaited.ready > now) {
    take_causal_chain(instance, lane, other);
    waited(instance, lane, awaited.ready - state.ready);
    schedule_lane(instance, lane, awaited.ready);
    return false;
  }
  return true;
}

/// Registers `waiter` to continue once `lane` has completed `count` steps.
void Interpreter::add_waiter(Instance& instance, std::int32_t lane, std::int32_t waiter,
                             std::int64_t count) {
  Waiting& waiting = instance.waiting[waiter];
  Waiting& awaited = instance.waiting[lane];
  waiting.awaited_steps = count;
  waiting.next_waiter = awaited.first_waiter;
  awaited.wake_at = awaited.first_waiter == kNone ? count : std::min(awaited.wake_at, count);
  awaited.first_waiter = waiter;
  lane_at(instance, lane).awaited = true;
}

/// Removes the step's message from its connection. If the message has not arrived, blocks the lane.
bool Interpreter::take_message(Instance& instance, std::int32_t lane, const StepFields& step) {
  LaneState& state = lane_at(instance, lane);
  if (step.kind == StepKind::kReceiveAny) {
    Arrivals& arrivals = arrivals_of(instance, state);
    if (arrivals.taken == arrivals.connections.size()) {
      state.blocked = Blocked::kOnAnyMessage;
      return false;
    }
    state.last_in = arrivals.connections[arrivals.taken++];
    if (arrivals.taken == arrivals.connections.size())
      arrivals.connections.clear(), arrivals.taken = 0;
  } else {
    state.last_in = connection(instance, step.from, lane, step.from_away);
    if (instance.connections[state.last_in].arrived == 0) {
      state.blocked = Blocked::kOnMessage;
      return false;
    }
  }
  Connection& in = instance.connections[state.last_in];
  --in.arrived;
  state.held_connection = state.last_in;
  if (watch_steps_) {
    SenderSteps& sent = instance.sender_steps[state.last_in];
    instance.watched[lane].peer_index = sent.steps[sent.taken++];
    if (sent.taken == sent.steps.size()) sent.steps.clear(), sent.taken = 0;
  }
  return true;
}

/// Starts the step's reductions and copies. If they take time, schedules the lane for their end and
/// returns true.
bool Interpreter::work(Instance& instance, std::int32_t lane, const StepFields& step, Time now) {
  const bool copies = step.kind == StepKind::kCopy || step.kind == StepKind::kScale;
  const bool adds = reduces_received(step.kind);
  const bool updates = step.kind == StepKind::kUpdate;
  if (!copies && !adds && !updates && step.kind != StepKind::kReduce) return false;
  LaneState& state = lane_at(instance, lane);
  if (state.device == kNone) state.device = devices_.id(device_of(instance, state.rank));
  if (ties_) ties_->wants(Ties::Thing::kDevice, state.device, now);
  const std::int64_t operands = adds ? 2 : step.inputs + (step.accumulate ? 1 : 0);
  const Devices::By by =
      state.driven >= Driven::kByKernel ? Devices::By::kKernel : Devices::By::kDevice;
  const Server::Service service =
      updates  ? devices_.update(state.device, step.target, step.inputs, now)
      : copies ? devices_.copy(state.device, step.target, now, by)
               : devices_.reduce(state.device, step.target, operands, now, by);
  if (service.end == now) return false;
  if (network_.keeps_causal_chains()) {
    CausalChain& causal_chain = causal_chain_at(instance, lane);
    causal_chain.parts.queue += service.start - now;
    (copies || updates ? causal_chain.parts.copy : causal_chain.parts.reduce) +=
        service.end - service.start;
  }
  schedule_lane(instance, lane, service.end);
  return true;
}

bool Interpreter::send(Instance& instance, std::int32_t lane, const StepFields& step, Time now) {
  LaneState& state = lane_at(instance, lane);
  if (!leads_to(instance, state.last_out, step.to, step.to_away)) {
    state.last_out = connection(instance, lane, step.to, step.to_away);
  }
  Connection& out = instance.connections[state.last_out];
  if (out.occupied >= out.credits) {
    out.blocked_sender = lane;
    state.blocked = Blocked::kOnSlot;
    return false;
  }
  ++out.occupied;
  if (watch_steps_) instance.sender_steps[state.last_out].steps.push_back(state.next);
  if (out.path == kNone) out.path = find_path(instance, out);
  const Address address{instance.id, static_cast<std::uint32_t>(state.last_out)};
  const CausalChain* const causal_chain =
      network_.keeps_causal_chains() ? &causal_chain_at(instance, lane) : nullptr;
  const Time buffer_free = network_.send(out.path, step.source, now, order_of(instance, lane),
                                         address, causal_chain, events_);
  if (buffer_free == core::kNever) {
    state.blocked = Blocked::kOnWire;
    return false;
  }
  if (causal_chain) sent(instance, lane, out.path, step.source, now, buffer_free);
  complete_step(instance, lane, buffer_free);
  return true;
}

/// Adds the time until the lane's buffer is free to the lane's causal chain.
void Interpreter::sent(Instance& instance, std::int32_t lane, std::int32_t path, Bytes bytes,
                       Time now, Time buffer_free) {
  const core::Path& way = network_.paths().path(path);
  if (way.hops.empty()) return;
  const core::PathHop& first = way.first();
  const Time moving = std::min(buffer_free - now, transfer_time(bytes, first.rate));
  CausalChain& causal_chain = causal_chain_at(instance, lane);
  causal_chain.moved(way.segments.front().kind, way.segments.front().link, moving);
  causal_chain.queued(first.link(), buffer_free - now - moving);
}

bool Interpreter::multicast(Instance& instance, std::int32_t lane, const StepFields& fields,
                            Time now) {
  LaneState& state = lane_at(instance, lane);
  const Step step = instance.schedule->step(state.rank, state.lane, state.next);
  std::vector<std::int32_t> connections;
  const std::vector<core::PartId> devices =
      devices_of(instance.collective->group, step.group, state.rank);
  for (std::int32_t i = 0; i < step.group.count; ++i) {
    const Rank peer = step.group.at(i);
    if (peer == state.rank) continue;
    connections.push_back(connection(instance, lane, lane_number(instance, peer, step.to.lane), 0));
    Connection& out = instance.connections[connections.back()];
    if (out.occupied < out.credits) continue;
    out.blocked_sender = lane;
    state.blocked = Blocked::kOnSlot;
    return false;
  }
  Time buffer_free = now;
  if (!devices.empty()) {
    std::vector<Address> addresses;
    for (const std::int32_t c : connections) {
      ++instance.connections[c].occupied;
      if (watch_steps_) instance.sender_steps[c].steps.push_back(state.next);
      addresses.push_back({instance.id, static_cast<std::uint32_t>(c)});
    }
    const std::int32_t path = network_.paths().multicast(device_of(instance, state.rank), devices);
    const CausalChain* const causal_chain =
        network_.keeps_causal_chains() ? &causal_chain_at(instance, lane) : nullptr;
    buffer_free = network_.send(path, fields.source, now, order_of(instance, lane),
                                std::move(addresses), causal_chain, events_);
    if (buffer_free == core::kNever) {
      state.blocked = Blocked::kOnWire;
      return false;
    }
    if (causal_chain) sent(instance, lane, path, fields.source, now, buffer_free);
  }
  complete_step(instance, lane, buffer_free);
  return true;
}

/// Executes a step with an in-switch reduction. In phase kFresh, starts the reduction. The result
/// arrives as a message from the lane to itself, and run_step() then calls this function again.
bool Interpreter::switch_reduce(Instance& instance, std::int32_t lane, const StepFields& fields,
                                Time now) {
  LaneState& state = lane_at(instance, lane);
  const std::int32_t own = connection(instance, lane, lane, 0);
  Connection& result = instance.connections[own];
  if (result.arrived > 0) {
    --result.arrived;
    complete_step(instance, lane, now);
    return true;
  }
  const Step step = instance.schedule->step(state.rank, state.lane, state.next);
  const std::vector<core::PartId> devices = devices_of(instance.collective->group, step.group, -1);
  const std::int32_t path =
      network_.paths().switch_reduce(devices, device_of(instance, state.rank));
  std::vector<Address> address{{instance.id, static_cast<std::uint32_t>(own)}};
  network_.send(path, fields.source, now, order_of(instance, lane), std::move(address),
                network_.keeps_causal_chains() ? &causal_chain_at(instance, lane) : nullptr,
                events_);
  state.last_in = own;
  state.blocked = Blocked::kOnMessage;
  return false;
}

void Interpreter::complete_step(Instance& instance, std::int32_t lane, Time end) {
  LaneState& state = lane_at(instance, lane);
  ++steps_executed_;
  if (watch_steps_) report_step(instance, lane, end);
  ++state.next;
  state.step_known = false;
  state.phase = Phase::kFresh;
  state.ready = end;
  if (state.awaited && state.next >= instance.waiting[lane].wake_at) {
    wake_waiters(instance, lane);
  }
}

/// Reports to the listener that the current step ends at `end`.
void Interpreter::report_step(Instance& instance, std::int32_t lane, Time end) {
  const LaneState& state = lane_at(instance, lane);
  Watched& watched = instance.watched[lane];
  const Step step = instance.schedule->step(state.rank, state.lane, state.next);
  StepDone done{instance.id,  state.rank, state.lane, state.next, step, state.ready,
                watched.wait, end,        -1,         -1,         -1};
  if (receives(step.kind)) {
    const LaneState& sender = lane_at(instance, instance.connections[state.last_in].from);
    done.peer = sender.rank;
    done.peer_lane = sender.lane;
    done.peer_index = watched.peer_index;
  }
  instance.listener->step_done(done);
  watched.wait = Time();
}

/// Replaces the lane's causal chain by that of the lane `from`, which unblocked it.
void Interpreter::take_causal_chain(Instance& instance, std::int32_t lane,
                                    std::int32_t from) const {
  if (network_.keeps_causal_chains())
    causal_chain_at(instance, lane) = causal_chain_at(instance, from);
}

/// Records the waiting time of the lane's current step, for its StepDone.
void Interpreter::waited(Instance& instance, std::int32_t lane, Time wait) const {
  if (watch_steps_) instance.watched[lane].wait = wait;
}

/// Frees the slot of the current message. If a lane waits for a slot of the same connection,
/// continues it.
void Interpreter::free_slot(Instance& instance, std::int32_t lane, Time now) {
  LaneState& state = lane_at(instance, lane);
  Connection& in = instance.connections[std::exchange(state.held_connection, kNone)];
  --in.occupied;
  const std::int32_t sender = std::exchange(in.blocked_sender, kNone);
  if (sender == kNone) return;
  LaneState& waiting = lane_at(instance, sender);
  if (now > waiting.ready) take_causal_chain(instance, sender, lane);
  if (watch_steps_) {
    Time& wait = instance.watched[sender].wait;
    wait = std::max(wait, now - waiting.ready);
  }
  schedule_lane(instance, sender, std::max(now, waiting.ready));
}

void Interpreter::wake_waiters(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  std::int32_t waiter = std::exchange(instance.waiting[lane].first_waiter, kNone);
  state.awaited = false;
  while (waiter != kNone) {
    const Waiting waiting = instance.waiting[waiter];
    if (state.next < waiting.awaited_steps) {
      add_waiter(instance, lane, waiter, waiting.awaited_steps);
    } else {
      const Time ready = lane_at(instance, waiter).ready;
      if (state.ready > ready) take_causal_chain(instance, waiter, lane);
      waited(instance, waiter, std::max(Time(), state.ready - ready));
      schedule_lane(instance, waiter, std::max(state.ready, ready));
    }
    waiter = waiting.next_waiter;
  }
}

void Interpreter::finish_lane(Instance& instance, std::int32_t lane) {
  LaneState& state = lane_at(instance, lane);
  state.blocked = Blocked::kDone;
  if (state.driven == Driven::kByKernelThatHolds) give_back_multiprocessor(state);
  if (--instance.lanes_left[state.rank] > 0) return;
  instance.listener->rank_done(
      instance.id, state.rank, state.ready,
      network_.keeps_causal_chains() ? causal_chain_at(instance, lane) : CausalChain{});
}

// --- connections ---

bool Interpreter::leads_to(const Instance& instance, std::int32_t connection, std::int32_t to,
                           std::int32_t away) {
  if (connection == kNone) return false;
  const Connection& known = instance.connections[connection];
  return known.to == to && known.away == away;
}

std::int32_t Interpreter::connection(Instance& instance, std::int32_t from, std::int32_t to,
                                     std::int32_t away) const {
  const LaneState& receiver = lane_at(instance, to);
  if (receiver.last_in != kNone) {
    const Connection& last = instance.connections[receiver.last_in];
    if (last.from == from && last.to == to && last.away == away) return receiver.last_in;
  }
  const auto [known, fresh] = instance.connection_ids.try_emplace(
      {from, to, away}, static_cast<std::int32_t>(instance.connections.size()));
  if (fresh) {
    Connection connection;
    connection.from = from;
    connection.to = to;
    connection.away = away;
    connection.credits = instance.schedule->credits(receiver.rank, receiver.lane);
    instance.connections.push_back(connection);
    if (watch_steps_) instance.sender_steps.emplace_back();
  }
  return known->second;
}

std::int32_t Interpreter::find_path(const Instance& instance, const Connection& connection) {
  const LaneState& sender = instance.lanes[connection.from];
  const LaneState& receiver = instance.lanes[connection.to];
  return network_.paths().unicast(device_of(instance, sender.rank),
                                  device_of(instance, receiver.rank), instance.collective->staging,
                                  instance.schedule->engine(sender.rank, sender.lane),
                                  connection.away);
}

}  // namespace tutti::sim
