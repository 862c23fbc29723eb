// Handles the communication of an execution trace (core/replay). Collectives of the trace are
// simulated as packs, and messages as flights of two ranks. A message is in flight as soon as it is
// sent, even if its receive has not been posted.

#include "sim/run/run_state.h"

namespace tutti::sim {

using core::Rank;
using core::TaskId;
using core::Time;

void Run::communicate_in_graph(Replica& replica, TaskId id, const core::Task& task) {
  if (task.pack >= 0) {
    pack_records_.ready(replica.step, task.pack, now_);
    replica.ready = now_;
    return launch(replica, collectives_.of_pack(task.pack, replica.index), task.pack);
  }
  // A task without a message announces a computation. Such a task completes when the computation
  // starts (begin_task).
  if (task.index >= 0) post(replica, id, replica.graph->messages[task.index]);
}

void Run::post(Replica& replica, TaskId id, const core::ExecutionGraph::Message& message) {
  if (replica.in_flight++ == 0) replica.in_flight_since = now_;
  const std::int32_t step = replica.step;
  if (message.sends) {
    Flight& flight = open_message(replica, id, message);
    const auto receive =
        messages_.matcher(message.peer, step).sent(replica.index, message.tag, flight.number);
    messages_.release(message.peer, step);
    if (!receive) return;
    start_receiver(flight, replicas_[message.peer], static_cast<TaskId>(*receive), replica.cause);
  } else {
    const auto number =
        messages_.matcher(replica.index, step).posted(message.peer, message.tag, id);
    messages_.release(replica.index, step);
    if (number) start_receiver(*flights_.find(step, *number, 0), replica, id, replica.cause);
  }
}

Flight& Run::open_message(const Replica& from, TaskId task,
                          const core::ExecutionGraph::Message& message) {
  auto collective = messages_.collective(from.index, message.peer, message.bytes);
  const std::int64_t number =
      static_cast<std::int64_t>(scenario_.plan.packs.size()) + next_message_++;
  Flight& flight = flights_.add(engines_.open(*collective), from.step, number, Work{});
  flight.in_group = std::move(collective);
  flight.message = Flight::Message{from.index, message.peer, task, core::kNoTask};
  flight.ranks_left = 2;
  flight.first_start = now_;
  flight.causes.resize(2);
  flight.started.assign(2, now_);
  start_rank(flight, 0, from.device, from.cause, now_);
  return flight;
}

void Run::start_receiver(Flight& flight, Replica& to, TaskId task, const Cause& cause) {
  flight.message->receive = task;
  start_rank(flight, 1, to.device, cause, now_);
}

void Run::message_done(Flight& flight, Rank rank, Time now, const CausalChain& causal_chain) {
  const Flight::Message message = *flight.message;
  const std::uint32_t instance = flight.instance;
  // Keep the collective alive: the flight is removed below when its last rank is done.
  const std::shared_ptr<const core::Collective> kept = flight.in_group;
  recorder_.exchange_done(kept->group.device(rank), instance, flight.step, 0, flight.started[rank],
                          now);
  const Cause cause{add_flight_node(flight, rank, now, causal_chain), now};
  if (--flight.ranks_left == 0) {
    engines_.close(instance);
    flights_.remove(flight);
    recorder_.closed(instance);
  }
  Replica& replica = replicas_[rank == 0 ? message.from : message.to];
  if (--replica.in_flight == 0) replica.exposed.in_flight(replica.in_flight_since, now);
  replica.cause = cause;
  replica.runner.done(rank == 0 ? message.send : message.receive, replica.world);
}

}  // namespace tutti::sim
