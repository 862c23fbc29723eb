#include "sim/collectives/staged_collectives.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/nccl/collective_time.h"

namespace tutti::sim {

using core::CollectivePart;
using core::CollectiveParts;
using core::Lane;
using core::Rank;
using core::Time;

namespace {

/// Returns the causal chain that consists of `way` followed by `behind`.
CausalChain joined(const CausalChain& way, const CausalChain& behind) {
  CausalChain all = way;
  all.parts += behind.parts;
  if (behind.slowest_time > all.slowest_time) {
    all.slowest_time = behind.slowest_time;
    all.slowest = behind.slowest;
  }
  if (behind.queued_time > all.queued_time) {
    all.queued_time = behind.queued_time;
    all.queued_at = behind.queued_at;
  }
  return all;
}

/// Returns the number of lanes that the rank has in earlier stages of the whole collective.
Lane lanes_before(const CollectiveParts& parts, std::size_t stage, Rank rank) {
  Lane lanes = 0;
  for (std::size_t s = 0; s < stage; ++s) lanes += parts.lanes(parts.all[s], rank);
  return lanes;
}

}  // namespace

std::int64_t StagedCollectives::pieces_of(const CollectiveParts& parts) {
  std::int64_t pieces = 0;
  for (const CollectivePart& part : parts.all) {
    if (part.inside_workers)
      pieces += parts.layout.workers * TimedCollectives::pieces_of(*part.collective.nccl);
  }
  return pieces;
}

void StagedCollectives::expect(const core::Collective& collective, const GoOn& go_on) {
  const CollectiveParts& parts = *core::timed_parts(collective);
  for (const CollectivePart& part : parts.all) {
    if (!part.inside_workers) interpreter_.expect(part.collective, go_on);
    for (std::int32_t w = 0; part.inside_workers && w < parts.layout.workers; ++w) {
      if (!go_on()) return;
      timed_.expect_inside(part.collective, w);
    }
  }
}

std::uint32_t StagedCollectives::open(const core::Collective& collective,
                                      CollectiveListener& listener) {
  if (free_.empty()) free_.push(instances_++);
  auto whole = std::make_unique<Whole>();
  whole->instance = free_.top();
  free_.pop();
  whole->listener = &listener;
  whole->collective = &collective;
  whole->parts = core::timed_parts(collective);
  const CollectiveParts& parts = *whole->parts;
  const std::size_t ranks = collective.schedule->ranks();
  for (const CollectivePart& part : parts.all) {
    Stage& stage = whole->stages.emplace_back();
    stage.began.resize(part.inside_workers ? static_cast<std::size_t>(parts.layout.replicas())
                                           : ranks);
    stage.left = collective.schedule->ranks();
    if (!part.inside_workers) continue;
    stage.serial = interpreter_.take_serial();
    stage.waits_for.assign(parts.layout.workers, parts.layout.per_worker);
  }
  const std::uint32_t instance = whole->instance;
  wholes_[instance] = std::move(whole);
  return instance;
}

void StagedCollectives::start(std::uint32_t instance, Rank rank, Time now) {
  CausalChain causal_chain;
  causal_chain.origin = rank;
  enter(*wholes_.at(instance), 0, rank, now, causal_chain);
}

/// Starts a part that NCCL executes in a worker. When this function is called, all replicas of the
/// worker have arrived, and NCCL's launch is complete.
void StagedCollectives::handle(const Event& event) {
  timed_.start(event.a, static_cast<Rank>(event.b), event.time);
}

void StagedCollectives::close(std::uint32_t instance) {
  wholes_.erase(instance);
  free_.push(instance);
}

/// Starts a rank's part in a stage. REQUIRES: the rank has completed all earlier stages.
void StagedCollectives::enter(Whole& whole, std::size_t stage, Rank rank, Time now,
                              const CausalChain& causal_chain) {
  const std::vector<CollectivePart>& all = whole.parts->all;
  while (stage < all.size() && !whole.parts->takes_part(all[stage], rank)) ++stage;
  // Do not use the instance after the last rank is reported, because the listener then closes it.
  if (stage == all.size())
    return whole.listener->rank_done(whole.instance, rank, now, causal_chain);
  whole.stages[stage].began[rank] = causal_chain;
  if (!all[stage].inside_workers) return run_among_all(whole, stage, rank, now);
  const std::size_t worker = rank / whole.parts->layout.per_worker;
  if (--whole.stages[stage].waits_for[worker] == 0) call_nccl({&whole, stage, rank, now});
}

/// Returns the launch overhead of a stage. The first stage has no launch overhead of its own,
/// because it is launched with the whole collective.
Time StagedCollectives::launch_of(const CollectiveParts& parts, std::size_t stage) {
  return stage == 0 ? Time() : parts.all[stage].collective.nccl->launch;
}

/// Calls NCCL on all replicas of a worker. If the worker's communicator is busy, the operation
/// begins later.
void StagedCollectives::call_nccl(const Call& call) {
  const std::int32_t worker = call.last / call.whole->parts->layout.per_worker;
  if (ties_) ties_->wants(Ties::Thing::kCommunicator, worker, call.at);
  Communicator& communicator = communicators_[worker];
  communicator.calls.push_back(call);
  if (communicator.calls.size() == 1) begin(worker);
}

/// Begins the first operation in the queue of the worker's communicator. REQUIRES: the communicator
/// executes no other operation.
void StagedCollectives::begin(std::int32_t worker) {
  const Communicator& communicator = communicators_.at(worker);
  const auto [whole, stage, last, at] = communicator.calls.front();
  const CollectivePart& part = whole->parts->all[stage];
  // When the last replica arrives at the first stage, the launch of this stage is complete. If this
  // launch began while the communicator was busy, it counts as begun when the communicator became
  // free.
  Time begins = at + launch_of(*whole->parts, stage);
  if (communicator.free)
    begins = std::max(begins, *communicator.free + part.collective.nccl->launch);
  const std::uint64_t serial = whole->stages[stage].serial;
  const std::uint32_t instance =
      timed_.open_inside(part.collective, worker, serial, inside_workers_);
  inside_workers_.of[instance] = {whole, stage, worker, whole->parts->layout.per_worker,
                                  begins - at - launch_of(*whole->parts, stage)};
  events_.push({begins, event_order(serial, static_cast<std::uint64_t>(worker), 0),
                EventKind::kStage, instance,
                static_cast<std::uint32_t>(last % whole->parts->layout.per_worker)});
}

void StagedCollectives::run_among_all(Whole& whole, std::size_t stage, Rank rank, Time now) {
  Stage& at = whole.stages[stage];
  if (at.instance < 0) {
    if (ties_) ties_->wants(Ties::Thing::kOpening, 0, now);
    at.instance = interpreter_.open(whole.parts->all[stage].collective, among_all_);
    among_all_.of[static_cast<std::uint32_t>(at.instance)] = {&whole, stage};
  }
  interpreter_.start(static_cast<std::uint32_t>(at.instance), rank, now);
}

/// Starts the next stage on a rank that has completed its part in the current stage.
void StagedCollectives::part_done(Parts& parts, std::uint32_t instance, Rank rank, Time now,
                                  const CausalChain& causal_chain) {
  Part& part = parts.of.at(instance);
  Whole& whole = *part.whole;
  const std::size_t stage = part.stage;
  Stage& at = whole.stages[stage];
  const Rank first = part.worker < 0 ? 0 : part.worker * whole.parts->layout.per_worker;
  CausalChain way = joined(at.began[first + causal_chain.origin], causal_chain);
  const std::int32_t worker = part.worker;
  if (worker >= 0) {
    way.parts.launch += launch_of(*whole.parts, stage);
    way.parts.queue += part.waited;
  }
  const bool last = worker >= 0 ? --part.left == 0 : --at.left == 0;
  if (last) {
    worker < 0 ? interpreter_.close(instance) : timed_.close(instance);
    parts.of.erase(instance);
  }
  if (last && worker >= 0) {
    Communicator& communicator = communicators_.at(worker);
    communicator.calls.pop_front();
    communicator.free = now;
    if (!communicator.calls.empty()) begin(worker);
  }
  enter(whole, stage + 1, first + rank, now, way);
}

/// Converts the record of a part's step to a record of the whole collective's step. The lane and
/// the step get their numbers in the whole schedule.
StepDone StagedCollectives::of_whole(const Part& part, const StepDone& step) {
  const Whole& whole = *part.whole;
  const core::Schedule& own = *whole.parts->all[part.stage].collective.schedule;
  const core::Schedule& all = *whole.collective->schedule;
  const auto place = [&](Rank rank, Lane& lane, std::int64_t& index) {
    const Lane in_whole = lanes_before(*whole.parts, part.stage, rank) + lane;
    // In the whole schedule, a lane begins with steps that wait for the previous stage. The part's
    // schedule does not have these steps, so add their number.
    index += all.steps(rank, in_whole) - own.steps(rank, lane);
    lane = in_whole;
  };
  StepDone placed = step;
  placed.instance = whole.instance;
  place(placed.rank, placed.lane, placed.index);
  if (placed.peer >= 0) place(placed.peer, placed.peer_lane, placed.peer_index);
  return placed;
}

}  // namespace tutti::sim
