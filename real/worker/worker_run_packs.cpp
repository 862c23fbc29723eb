// This file is the part of WorkerRun that handles packs, from the time when their gradients are
// ready to their end.

#include <algorithm>

#include "real/worker/worker_run_state.h"

namespace tutti::real {

using core::Rank;
using Clock = Transport::Clock;

/// Starts the pack immediately, or asks the worker's gate to release it.
void WorkerRun::launch(Replica& replica, int pack) {
  if (is_fused(static_cast<std::size_t>(pack)))
    return cycles_->ask(replica.step, pack, replica.index);
  if (!gate_ || !gates_.governs(pack)) return begin(replica, pack);
  // Pass an arbitrary time, because only gates that work in rounds use this argument.
  start(gate_->ready({replica.rank, replica.step, pack}, core::Time()));
}

/// Starts the packs that the worker's gate has released.
void WorkerRun::start(const std::vector<core::GateDecision>& decisions) {
  for (const core::GateDecision& decision : decisions) {
    for (std::int64_t r = 0; r < decision.replicas; ++r) {
      const std::size_t here = decision.first_replica + r - ranks_.front();
      for (const std::int32_t pack : decision.batch->items) begin(*replicas_[here], pack);
    }
  }
}

void WorkerRun::begin(Replica& replica, int pack) {
  const Clock::time_point now = timers_.now();
  const CollectiveTag tag = async_servers_ ? async_servers_->tag(replica.step, pack)
                                           : tag_of(replica.step, static_cast<std::size_t>(pack));
  launched(replica, replica.step, pack);
  if (async_servers_) async_servers_->ask(replica.step, pack, *collectives_);
  const core::Time overhead = scenario_.strategy.launch_overhead;
  if (!options_.replay_launch || overhead == core::Time())
    return collectives_->start(tag, replica.rank);
  timers_.at(now + options_.scale.here(overhead),
             [this, tag, rank = replica.rank] { collectives_->start(tag, rank); });
}

void WorkerRun::launched(Replica& replica, std::int32_t step, int pack) {
  const Clock::time_point now = timers_.now();
  if (replica.in_flight++ == 0) replica.in_flight_since = now;
  if (in_flight_++ == 0) core_wait_->lap();
  log_.launched(tag_of(step, static_cast<std::size_t>(pack)), replica.rank, now);
}

void WorkerRun::rank_done(CollectiveTag collective, Rank rank) {
  ++progress_;
  if (cycles_ && cycles_->rank_done(collective, rank)) return;
  if (async_servers_) {
    async_servers_->rank_done(collective, rank, *collectives_);
    const auto pack = async_servers_->pack_of(collective);
    if (!pack) return count_completed(static_cast<std::int32_t>(collective.step));
    collective.pack = *pack;
    // A process without replicas is only a server. The work of a server is recorded by the worker
    // that uses the server.
    if (replicas_.empty()) return count_completed(static_cast<std::int32_t>(collective.step));
  }
  done(static_cast<std::int32_t>(collective.step), static_cast<int>(collective.pack), rank);
}

/// Called when a rank of this process has completed the pack.
void WorkerRun::done(std::int32_t step, int pack, Rank rank) {
  const CollectiveTag collective = tag_of(step, static_cast<std::size_t>(pack));
  const Clock::time_point now = timers_.now();
  const auto index =
      static_cast<std::size_t>(std::find(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
  log_.done(collective, rank, index < replicas_.size(), now);
  const int answer = pull_of_[collective.pack];
  if (answer >= 0 && index >= replicas_.size())
    collectives_->start(tag_of(step, static_cast<std::size_t>(answer)), rank);
  count_completed(step);
  if (index >= replicas_.size()) return;
  if (--in_flight_ == 0) waited_for_core_ += core_wait_->lap();
  Replica& replica = *replicas_[index];
  if (--replica.in_flight == 0)
    replica.exposed.in_flight(stamp(replica.in_flight_since), stamp(now));
  if (gate_ && gates_.governs(pack)) start(gate_->done({rank, step, pack}));
  replica.runner.done(replica.tasks.of_pack(pack), replica);
}

void WorkerRun::channel_done(const ChannelDone& done) { log_.channel(done); }

void WorkerRun::step_done(const StepDone& done) {
  ++progress_;
  if (cycles_ && cycles_->is_one(done.collective)) {
    const auto travels = cycles_->pack_of(done.collective);
    if (!travels) return;
    StepDone recorded = done;
    recorded.collective = *travels;
    return log_.lane_step(recorded);
  }
  if (!async_servers_) return log_.lane_step(done);
  const auto pack = async_servers_->pack_of(done.collective);
  if (!pack) return;
  StepDone recorded = done;
  recorded.collective.pack = *pack;
  log_.lane_step(recorded);
}

}  // namespace tutti::real
