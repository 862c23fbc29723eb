#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/reduction_scope.h"
#include "core/lowering/staleness.h"
#include "core/scenario/scenario.h"
#include "core/timeline/steady_state.h"
#include "sim/collectives/plan_collectives.h"

namespace tutti::sim {

/// Returns true if workers are asynchronous and the run continues until they reach a steady state.
/// If the scenario has conditions that change with time, there is no steady state, and the run has
/// the number of steps that the scenario states.
inline bool continues_until_steady(const core::Scenario& scenario) {
  return scenario.run.until_steady && !core::change_with_time(scenario.run.conditions) &&
         core::reduction_scope(scenario.strategy, scenario.plan) ==
             core::ReductionScope::kAsyncServers;
}

/// Observes asynchronous workers: how stale their gradients are, how many training steps per second
/// they complete together, and when this rate becomes steady.
class Asynchrony {
 public:
  /// `work_of_step` is the number of schedule steps per training step. The larger `work_of_step`
  /// is, the earlier the search for the steady state gives up. REQUIRES: the scenario outlives this
  /// object; the scenario's workers are asynchronous.
  Asynchrony(const core::Scenario& scenario, double work_of_step)
      : plan_(scenario.plan),
        steps_(scenario.run.steps),
        versions_(scenario.plan.partition->groups(), scenario.workload.gradients.size()),
        paces_(scenario.plan.partition->groups()),
        begun_(scenario.plan.partition->groups()) {
    if (continues_until_steady(scenario))
      search_.emplace(plan_.partition->groups(),
                      static_cast<std::int32_t>(
                          std::min<double>(kMaxRounds, kMaxWork / std::max(1.0, work_of_step))));
  }

  /// Records that a worker starts the pack of `work`. If the pack carries the values of variables,
  /// the worker reads the current version of these variables at this time.
  void opened(const Work& work) {
    if (const core::Pack* const pack = values(work, core::PackPhase::kRead))
      versions_.read(work.place.group, pack->payload.members.front().variable);
  }
  /// Records that the pack of `work` is complete at its root, the server that holds the variables.
  /// If the pack carries gradients, the gradients are applied at this time.
  void complete_at_root(const Work& work) {
    if (const core::Pack* const pack = values(work, core::PackPhase::kGradients))
      versions_.applied(work.place.group, pack->payload.members.front().variable);
  }
  /// Records that a replica has ended a step. Calls must be in order of time.
  void step_ended(std::int64_t replica, std::int32_t step, core::Time now) {
    const core::Partition::Place place = plan_.partition->place(replica);
    if (place.rank != 0) return;
    if (!search_) return paces_.step_ended(place.group, step, steps_, now);
    paces_.step_ended(place.group, step, std::numeric_limits<std::int32_t>::max(), now);
    if (!search_->step_ended(now)) return;
    // Later steps do not change any reported value.
    paces_.close();
    behind_ = versions_.behind();
  }
  /// Returns true if the replica must begin the step. Until the steady state is known, workers
  /// continue even if they have completed all steps of the scenario. If fast workers stopped,
  /// slower workers would no longer share the servers with them, and would become faster. If one
  /// replica of a worker begins a step, all replicas of the worker begin the step.
  bool begins(std::int64_t replica, std::int32_t step) {
    std::int32_t& begun = begun_[plan_.partition->place(replica).group];
    if (step < steps_ || (search_ && !search_->state())) begun = std::max(begun, step);
    return step <= begun;
  }
  /// Returns the steady state; null if the run does not search for it or was stopped before.
  [[nodiscard]] const core::SteadyState* steady() const {
    return search_ && search_->state() ? &*search_->state() : nullptr;
  }
  [[nodiscard]] std::string describe() const {
    return paces_.describe(behind_ ? *behind_ : versions_.behind(), search_.has_value());
  }

 private:
  static constexpr double kMaxRounds = 512;
  static constexpr double kMaxWork = 5e6;  // schedule steps; their simulation takes some seconds

  /// Returns the pack of `work` if the pack belongs to `phase` and carries values; otherwise
  /// returns null.
  [[nodiscard]] const core::Pack* values(const Work& work, core::PackPhase phase) const {
    if (work.pack < 0) return nullptr;
    const core::Pack& pack = plan_.packs[work.pack];
    return pack.phase == phase && pack.payload.content == core::PackContent::kValues ? &pack
                                                                                     : nullptr;
  }

  const core::Plan& plan_;
  std::int32_t steps_;
  core::Versions versions_;
  core::AsyncServersList paces_;
  std::vector<std::int32_t> begun_;  ///< for each worker, the index of the last step that it began
  std::optional<core::SteadyStateSearch> search_;
  std::optional<core::UpdatesBehind> behind_;  ///< result of Versions::behind() when the search for
                                               ///< the steady state ended
};

}  // namespace tutti::sim
