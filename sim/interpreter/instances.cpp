// This file opens and closes collectives, and interpreter.cpp executes them.

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "sim/interpreter/interpreter.h"

namespace tutti::sim {

using core::Lane;
using core::Rank;
using core::Step;
using core::StepKind;
using core::Time;

void Interpreter::expect(const core::Collective& collective, const GoOn& go_on) {
  constexpr Rank kRanksPerCheck = 64;
  const core::Schedule& schedule = *collective.schedule;
  const core::Group& group = collective.group;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    if (rank % kRanksPerCheck == kRanksPerCheck - 1 && !go_on()) return;
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      const core::Engine engine = schedule.engine(rank, lane);
      std::pair<Rank, std::int32_t> last{-1, 0};
      schedule.visit_ways(rank, lane, [&](const Step& step) {
        if (step.kind == StepKind::kMulticast) {
          const std::vector<core::PartId> to = devices_of(group, step.group, rank);
          if (!to.empty()) network_.expect(network_.paths().multicast(group.device(rank), to));
        } else if (step.kind == StepKind::kSwitchReduce) {
          network_.expect(network_.paths().switch_reduce(devices_of(group, step.group, -1),
                                                         group.device(rank)));
        } else if (const std::pair peer{step.to.rank(rank, schedule.ranks()), step.to.away};
                   std::exchange(last, peer) != peer) {
          network_.expect(network_.paths().unicast(group.device(rank), group.device(peer.first),
                                                   collective.staging, engine, peer.second));
        }
      });
    }
  }
}

std::uint32_t Interpreter::open(const core::Collective& collective, CollectiveListener& listener) {
  std::uint32_t id = static_cast<std::uint32_t>(instances_.size());
  if (free_instances_.empty()) {
    instances_.emplace_back();
  } else {
    id = free_instances_.top();
    free_instances_.pop();
  }
  auto instance = std::make_unique<Instance>();
  instance->id = id;
  instance->listener = &listener;
  instance->collective = &collective;
  instance->schedule = collective.schedule.get();
  instance->serial = ++serial_;
  const core::Schedule& schedule = *instance->schedule;
  std::int64_t lanes = 0;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    instance->first_lane.push_back(static_cast<std::int32_t>(lanes));
    lanes += schedule.lanes(rank);
    TUTTI_CHECK(lanes <= kMaxLanes, "{} lanes up to rank {}", lanes, rank);
  }
  instance->first_lane.push_back(static_cast<std::int32_t>(lanes));
  instance->lanes.resize(lanes);
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane l = 0; l < schedule.lanes(rank); ++l) {
      // The lane may already have a state, because messages may arrive before the rank starts.
      LaneState& state = lane_at(*instance, lane_number(*instance, rank, l));
      state.rank = rank;
      state.lane = l;
      state.steps = schedule.steps(rank, l);
    }
  }
  assign_event_order(*instance);
  instance->waiting.resize(lanes);
  if (watch_steps_) instance->watched.resize(lanes);
  if (network_.keeps_causal_chains()) instance->causal_chains.resize(lanes);
  instance->lanes_left.resize(schedule.ranks());
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
    if (network_.keeps_causal_chains()) causal_chain_at(instance, lane).origin = rank;
    if (state.steps == 0) {
      state.blocked = Blocked::kDone;
      continue;
    }
    ++to_do;
    schedule_lane(instance, lane, now);
  }
  instance.lanes_left[rank] = to_do;
  if (to_do > 0) return;
  CausalChain causal_chain;
  causal_chain.origin = rank;
  instance.listener->rank_done(id, rank, now, causal_chain);
}

void Interpreter::close(std::uint32_t id) {
  instances_[id].reset();
  free_instances_.push(id);
}

/// Assigns to each lane its position in the order of simultaneous events. Lanes are ordered by the
/// rank's index in its worker, then by lane, then by worker. All workers then handle their
/// simultaneous events in the same order, except events from ranks with the same index in different
/// workers (docs/decisions/0005). If a group does not consist of whole workers, its lanes are
/// ordered by rank and lane.
void Interpreter::assign_event_order(Instance& instance) {
  const core::Collective& collective = *instance.collective;
  const core::Cluster& cluster = collective.group.cluster();
  const auto ranks = static_cast<Rank>(instance.first_lane.size()) - 1;
  std::uint32_t turn = 0;
  if (collective.contributors != cluster.replicas() || collective.group.size() != ranks) {
    for (LaneState& state : instance.lanes) state.turn = turn++;
    return;
  }
  const auto replicas = static_cast<Rank>(collective.contributors);
  const Rank per_worker = cluster.replicas_per_worker();
  const auto take = [&](Rank first, Rank stride, Rank end) {
    for (Lane lane = 0, most = 1; lane < most; ++lane) {
      for (Rank rank = first; rank < end; rank += stride) {
        const auto [begin, behind] =
            std::pair(lane_number(instance, rank, 0), lane_number(instance, rank + 1, 0));
        most = std::max(most, behind - begin);
        if (lane < behind - begin) lane_at(instance, begin + lane).turn = turn++;
      }
    }
  };
  for (Rank local = 0; local < per_worker; ++local) take(local, per_worker, replicas);
  take(replicas, 1, ranks);
}

std::vector<core::PartId> Interpreter::devices_of(const core::Group& group,
                                                  const core::RankSet& ranks, Rank but) {
  std::vector<core::PartId> devices;
  for (std::int32_t i = 0; i < ranks.count; ++i) {
    if (ranks.at(i) != but) devices.push_back(group.device(ranks.at(i)));
  }
  return devices;
}

}  // namespace tutti::sim
