#include "sim/collectives/collective_engines.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/format.h"

namespace tutti::sim {

using core::Rank;
using core::Time;

CollectiveEngines::CollectiveEngines(Network& network, Devices& devices, EventQueue& events,
                                     Ties& ties, CollectiveListener& listener, bool watch_steps)
    : network_(network),
      events_(events),
      ties_(ties),
      interpreter_(network, devices, events, watch_steps),
      timed_(interpreter_, network, devices, events),
      staged_(interpreter_, timed_, events),
      engines_{&interpreter_, &staged_, &timed_},
      rounds_(interpreter_, network, devices, events, ties) {
  for (std::uint32_t e = 0; e < kEngines; ++e) {
    ports_[e].listener = &listener;
    ports_[e].engine = e;
  }
}

void CollectiveEngines::watch_ties() {
  network_.watch(ties_);
  interpreter_.watch(ties_);
  staged_.watch(ties_);
}

// --- assignment of collectives to engines ---

std::uint32_t CollectiveEngines::handle_of(std::uint32_t engine, std::uint32_t instance) {
  TUTTI_CHECK(instance < 1U << kInstanceBits, "{} collectives are in flight", instance);
  return engine << kInstanceBits | instance;
}

/// Returns the index of the engine that executes the collective: the last engine that accepts it.
/// The first engine, the interpreter, accepts every collective.
std::size_t CollectiveEngines::engine_for(const core::Collective& collective) const {
  std::size_t engine = kEngines - 1;
  while (!engines_[engine]->takes(collective)) --engine;
  return engine;
}

void CollectiveEngines::expect(const core::Collective& collective,
                               const CollectiveEngine::GoOn& go_on) {
  engines_[engine_for(collective)]->expect(collective, go_on);
}

std::uint32_t CollectiveEngines::open(const core::Collective& collective) {
  const std::size_t engine = engine_for(collective);
  return handle_of(static_cast<std::uint32_t>(engine),
                   engines_[engine]->open(collective, ports_[engine]));
}

void CollectiveEngines::close(std::uint32_t handle) {
  engine_of(handle).close(instance_of(handle));
}

void CollectiveEngines::start(const Event& event) {
  TUTTI_CHECK(event.kind == EventKind::kStart, "an event of kind {}", static_cast<int>(event.kind));
  engine_of(event.a).start(instance_of(event.a), static_cast<Rank>(event.b), event.time);
}

void CollectiveEngines::Port::rank_done(std::uint32_t instance, Rank rank, Time now,
                                        const CausalChain& causal_chain) {
  listener->rank_done(handle_of(engine, instance), rank, now, causal_chain);
}

void CollectiveEngines::Port::step_done(const StepDone& step) {
  StepDone of_handle = step;
  of_handle.instance = handle_of(engine, step.instance);
  listener->step_done(of_handle);
}

// --- work done ---

std::int64_t CollectiveEngines::work_done() const {
  std::int64_t work = 0;
  for (const CollectiveEngine* const engine : engines_) work += engine->work_done();
  return work;
}

std::vector<std::string> CollectiveEngines::notes() const {
  if (rounds_.steps_skipped() == 0) return {};
  const std::int64_t all = interpreter_.steps_executed();
  return {fmt::format(
      "simulated {} of {} schedule steps; the other steps are identical to simulated ones",
      core::show_count(all - rounds_.steps_skipped()), core::show_count(all))};
}

// --- work to do ---

namespace {

/// Estimates the number of schedule steps over all lanes and ranks. Assumes that all ranks with
/// data have as many steps as rank 0, and that all helper ranks have as many steps as the last one.
double lane_steps(const core::Collective& collective) {
  const core::Schedule& schedule = *collective.schedule;
  const auto of_rank = [&](Rank rank) {
    double sum = 0;
    for (core::Lane l = 0; l < schedule.lanes(rank); ++l)
      sum += static_cast<double>(schedule.steps(rank, l));
    return sum;
  };
  const std::int64_t helpers = schedule.ranks() - collective.contributors;
  return of_rank(0) * static_cast<double>(collective.contributors) +
         (helpers > 0 ? of_rank(schedule.ranks() - 1) * static_cast<double>(helpers) : 0);
}

}  // namespace

double work_of(const core::Collective& collective, double groups) {
  if (collective.nccl) return static_cast<double>(TimedCollectives::pieces_of(*collective.nccl));
  const core::CollectiveParts* const parts = core::timed_parts(collective);
  if (!parts) return groups * lane_steps(collective);
  auto work = static_cast<double>(StagedCollectives::pieces_of(*parts));
  for (const core::CollectivePart& part : parts->all) {
    if (!part.inside_workers) work += lane_steps(part.collective);
  }
  return work;
}

bool has_steps(const core::Collective& collective) {
  return !collective.nccl && core::timed_parts(collective) == nullptr;
}

}  // namespace tutti::sim
