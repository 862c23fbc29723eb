#include "sim/run/gates.h"

#include <limits>

namespace tutti::sim {

using core::Time;

namespace {
/// The order key of events that begin a round. The key is so large that packs which become ready at
/// the same time are included in the round.
constexpr std::uint64_t kAfterOthers = std::numeric_limits<std::uint64_t>::max() - 2;
enum : std::uint32_t { kBegins, kEnds };
}  // namespace

Gates::Gates(const core::Scenario& scenario, EventQueue& events, Starter& starter)
    : plan_(scenario.plan),
      events_(events),
      starter_(starter),
      fusing_(scenario),
      replicas_(scenario.cluster->replicas()) {
  if (!plan_.any()) return;
  replicas_per_gate_ =
      plan_.scope() == core::GateScope::kAll ? replicas_ : scenario.cluster->replicas_per_worker();
  for (std::int64_t first = 0; first < replicas_; first += replicas_per_gate_)
    gates_.push_back(plan_.make({first, replicas_per_gate_}, {std::nullopt, true}));
}

void Gates::ready(const core::GateRequest& request, const Cause& cause, Time now) {
  const Request requested{cause, now};
  if (plan_.scope() == core::GateScope::kAll) {
    std::vector<Request>& all = requested_[{request.step, request.item}];
    all.resize(replicas_);
    all[request.replica] = requested;
  }
  execute_points(gate_of(request.replica).ready(request, now), &requested);
  await_round(now);
}

void Gates::done(const core::GateRequest& request, const Cause& cause, Time now) {
  const Request requested{cause, now};
  execute_points(gate_of(request.replica).done(request), &requested);
}

void Gates::forget(const core::GateBatch& batch) {
  for (const std::int32_t item : batch.items) requested_.erase({batch.step, item});
  fusing_.forget(batch);
}

/// Starts the packs that gates have released. `requested` is the cause for all replicas. If it is
/// null, the cause for each replica is its pack that became ready last.
void Gates::execute_points(const std::vector<core::GateDecision>& decisions,
                           const Request* requested) {
  for (const core::GateDecision& decision : decisions) {
    const core::GateBatch& batch = *decision.batch;
    const std::shared_ptr<const FusedPacks> fused =
        fusing_.any() ? fusing_.of(decision.batch) : nullptr;
    for (std::int64_t r = decision.first_replica; r < decision.first_replica + decision.replicas;
         ++r)
      starter_.start_passed(r, batch, fused, requested ? *requested : requested_for(batch, r));
  }
}

Gates::Request Gates::requested_for(const core::GateBatch& batch, std::int64_t replica) const {
  Request last;
  for (const std::int32_t item : batch.items) {
    const Request& one = requested_.at({batch.step, item})[replica];
    if (one.at >= last.at) last = one;
  }
  return last;
}

// --- rounds ---

void Gates::await_round(Time now) {
  if (plan_.scope() != core::GateScope::kAll) return;
  if (const auto at = gates_.front()->next_round(now))
    events_.push({*at, kAfterOthers + 1, EventKind::kCycle, kBegins, 0});
}

void Gates::handle(const Event& event) {
  core::Gate& gate = *gates_.front();
  if (event.a == kBegins) {
    proposal_ = gate.begin_round(event.time);
    events_.push({event.time + plan_.rule().agreement(proposal_.step), kAfterOthers,
                  EventKind::kCycle, kEnds, 0});
    return;
  }
  // Replicas agree on a proposal. In a simulation, a single process has all replicas, so its
  // proposal is the agreement.
  execute_points(gate.end_round(proposal_, event.time), nullptr);
  await_round(event.time);
}

// --- state ---

void Gates::visit_state(core::StateVisitor& visitor) {
  for (const std::unique_ptr<core::Gate>& gate : gates_) gate->visit_state(visitor);
}

void Gates::add_causes(std::vector<Cause*>& causes) {
  for (auto& [key, all] : requested_) {
    for (Request& requested : all) causes.push_back(&requested.cause);
  }
}

}  // namespace tutti::sim
