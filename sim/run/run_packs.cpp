// Handles packs and exchanges in flight: their launches, and their completion on each rank and on
// all ranks.

#include <algorithm>

#include "core/base/check.h"
#include "sim/run/run_state.h"

namespace tutti::sim {

using core::PartId;
using core::Rank;
using core::Time;

void Run::launch(Replica& replica, const Work& work, std::int64_t number, const Cause& cause) {
  Flight& flight = flight_of(replica.step, cause, work, number);
  if (replica.in_flight++ == 0) replica.in_flight_since = now_;
  start_rank(flight, static_cast<Rank>(work.place.rank), replica.device, cause, now_);
  timeouts_.launched(flight, replica.index, static_cast<Rank>(work.place.rank), now_);
}

void Run::start_passed(std::int64_t index, const core::GateBatch& batch,
                       const std::shared_ptr<const FusedPacks>& fused,
                       const Gates::Request& requested) {
  Replica& replica = replicas_[index];
  if (fused) return launch_fused(replica, fused, requested);
  const std::int32_t pack = batch.items.front();
  launch(replica, collectives_.of_pack(pack, index), pack, requested.cause);
}

void Run::launch_fused(Replica& replica, const std::shared_ptr<const FusedPacks>& fused,
                       const Gates::Request& requested) {
  const std::int32_t first = fused->batch->items.front();
  const Work work = collectives_.of_pack(first, replica.index);
  Flight& flight = flight_of(replica.step, replica.cause, work, first, fused);
  if (replica.in_flight++ == 0) replica.in_flight_since = now_;
  flight.requested[work.place.rank] = requested.at;
  // The copies into and out of the fusion buffer occupy the stream. The times of both copies are
  // added before the launch.
  const Time copies = 2 * transfer_time(fused->copied, cluster_.part(replica.device).device.copy);
  flight.copies[work.place.rank] = copies;
  start_rank(flight, static_cast<Rank>(work.place.rank), replica.device, requested.cause, now_,
             copies);
}

/// Returns the flight of a pack or exchange that a replica launches. If no other replica has
/// launched it before, creates the flight.
Flight& Run::flight_of(std::int32_t step, Cause cause, const Work& work, std::int64_t number,
                       const std::shared_ptr<const FusedPacks>& fused) {
  if (Flight* const known = flights_.find(step, number, work.place.group)) return *known;
  if (workers_per_simulated_ > 1) ties_.wants(Ties::Thing::kOpening, 0, now_);
  std::shared_ptr<const core::Collective> in_group;
  const core::PlannedCollective& planned = collectives_.planned(work);
  if (work.place.group > 0 || !planned.is_fixed())
    in_group = std::make_shared<const core::Collective>(
        planned.in(work.place.group, {scenario_.run.seed, step, work.occurrence}));
  const core::Collective& collective = fused      ? *fused->collective
                                       : in_group ? *in_group
                                                  : planned.first;
  Flight& flight = flights_.add(engines_.open(collective), step, number, work);
  flight.fused = fused;
  flight.in_group = std::move(in_group);
  if (asynchrony_) asynchrony_->opened(work);
  const Rank ranks = collective.schedule->ranks();
  flight.ranks_left = ranks;
  flight.first_start = now_;
  flight.causes.resize(ranks);
  flight.started.assign(ranks, now_);
  if (fused) {
    flight.requested.assign(ranks, now_);
    flight.copies.assign(ranks, Time());
  }
  if (pull_order_.has_pull(work)) flight.rank_completed.assign(ranks, false);
  // Start the helper ranks together with the first replica, because they have no program of their
  // own.
  for (auto rank = static_cast<Rank>(collective.contributors); rank < ranks; ++rank) {
    if (pull_order_.starts_later(flight, rank)) continue;
    start_rank(flight, rank, collective.group.device(rank), cause, now_);
  }
  return flight;
}

void Run::start_rank(Flight& flight, Rank rank, PartId device, Cause cause, Time now, Time later) {
  flight.causes[rank] = cause;
  flight.started[rank] = now;
  flight.last_start = now;
  recorder_.launched(device, flight.instance);
  events_.push({now + later + launch_overhead(flight), static_cast<std::uint64_t>(rank),
                EventKind::kStart, flight.instance, static_cast<std::uint32_t>(rank)});
}

void Run::rank_done(std::uint32_t instance, Rank rank, Time now, const CausalChain& causal_chain) {
  Flight& flight = flights_.of(instance);
  if (flight.message) return message_done(flight, rank, now, causal_chain);
  timeouts_.rank_done(flight, rank);
  const Work work = flight.work;
  // Keep the collective alive: the flight is removed below when its last rank is done.
  const std::shared_ptr<const core::Collective> kept = flight.in_group;
  const core::Collective& collective = collective_of(flight);
  const Time started = flight.started[rank];
  if (asynchrony_ && rank == collective.root) asynchrony_->complete_at_root(work);
  if (work.pack >= 0) {
    recorder_.pack_done(collective.group.device(rank), instance, flight.step, work.pack, started,
                        now);
  } else {
    recorder_.exchange_done(collective.group.device(rank), instance, flight.step, work.exchange,
                            started, now);
    exchange_times_.add(work.exchange, now - started);
  }
  Cause cause;
  const bool answered = !flight.rank_completed.empty();
  if (rank < collective.contributors || answered)
    cause = {add_flight_node(flight, rank, now, causal_chain), now};
  if (answered) {
    flight.rank_completed[rank] = true;
    // The rank is a helper, which has no program. If the pull is in flight, start the helper's part
    // of it.
    Flight* const answer =
        rank >= collective.contributors ? pull_order_.pull_flight_of(flight) : nullptr;
    if (answer) start_rank(*answer, rank, collective_of(*answer).group.device(rank), cause, now_);
  }
  const std::shared_ptr<const FusedPacks> fused = flight.fused;
  const bool last = --flight.ranks_left == 0;
  if (last) {
    if (fused) {
      for (const int pack : fused->batch->items) pack_done(flight, pack, now);
    } else if (work.pack >= 0) {
      pack_done(flight, work.pack, now);
    }
    engines_.close(instance);
    flights_.remove(flight);
    recorder_.closed(instance);
  }
  if (rank >= collective.contributors) return;
  Replica& replica = replicas_[collectives_.replica(work, rank)];
  if (--replica.in_flight == 0) replica.exposed.in_flight(replica.in_flight_since, now);
  replica.cause = cause;
  if (work.pack < 0)
    return replica.runner.done(replica.tasks.of_exchange(work.exchange), replica.world);
  if (gates_.governs(work.pack)) gates_.done({replica.index, replica.step, work.pack}, cause, now_);
  if (replica.graph) return replica.runner.done(replica.graph->task_of(work.pack), replica.world);
  if (!fused) return replica.runner.done(replica.tasks.of_pack(work.pack), replica.world);
  for (const int pack : fused->batch->items)
    replica.runner.done(replica.tasks.of_pack(pack), replica.world);
  if (last) gates_.forget(*fused->batch);
}

/// Called when a group has completed the pack. Records the pack when all groups have completed it.
void Run::pack_done(const Flight& flight, std::int32_t pack, Time now) {
  const auto record =
      pack_records_.over({flight.step, pack, {}, flight.first_start, flight.last_start, now});
  if (!record) return;
  sink_.pack(*record);
  if (repetition_) repetition_->tell(*record);
}

/// Adds the pack in flight to the graph of the critical path. The node begins at the launch with
/// which the pack's causal chain begins.
std::int32_t Run::add_flight_node(const Flight& flight, Rank rank, Time now,
                                  CausalChain causal_chain) {
  const std::size_t origin = causal_chain.origin;
  const Time start = flight.fused ? flight.requested[origin] : flight.started[origin];
  causal_chain.parts.launch += launch_overhead(flight);
  if (flight.fused)
    causal_chain.parts.launch += flight.started[origin] - start + flight.copies[origin];
  TUTTI_CHECK(causal_chain.parts.total() == now - start,
              "the critical path of pack {} explains {} of {} ps", flight.number,
              causal_chain.parts.total().count(), (now - start).count());
  const bool pack = flight.work.pack >= 0;
  return path_.add(
      {flight.causes[origin], pack ? core::SpanKind::kPackInFlight : core::SpanKind::kExchange,
       static_cast<std::int32_t>(replica_of(flight, rank)), flight.step,
       pack ? flight.work.pack : flight.work.exchange, start, -1},
      causal_chain);
}

void Run::step_done(const StepDone& done) {
  const Flight& flight = flights_.of(done.instance);
  const core::Collective& collective = collective_of(flight);
  recorder_.step(done, flight.step, flight.work.pack, core::size_of(collective.type),
                 collective.group);
}

}  // namespace tutti::sim
