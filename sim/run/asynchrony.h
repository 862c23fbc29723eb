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

/// True if the simulated run continues until asynchronous workers are in a steady state. If
/// conditions change with time there is no steady state: the run has the steps of the scenario.
inline bool continues_until_steady(const core::Scenario& scenario) {
  return scenario.run.until_steady && !core::change_with_time(scenario.run.conditions) &&
         core::reduction_scope(scenario.strategy, scenario.plan) ==
             core::ReductionScope::kAsyncServers;
}

/// Observes workers that do not wait for each other: how stale their gradients are, how many steps
/// they make together, and from when on that is steady.
class Asynchrony {
 public:
  /// `work_of_step`: schedule steps of a training step, which limits how many rounds are simulated.
  /// REQUIRES: the scenario outlives it; its workers are asynchronous.
  Asynchrony(const core::Scenario& scenario, double work_of_step)
      : plan_(scenario.plan),
        steps_(scenario.run.steps),
        versions_(scenario.plan.partition->groups(), scenario.workload.gradients.size()),
        paces_(scenario.plan.partition->groups()),
        begun_(static_cast<std::size_t>(scenario.plan.partition->groups())) {
    if (continues_until_steady(scenario))
      search_.emplace(plan_.partition->groups(),
                      static_cast<std::int32_t>(
                          std::min<double>(kMaxRounds, kMaxWork / std::max(1.0, work_of_step))));
  }

  /// A worker starts the pack; it reads the variable's current values.
  void opened(const Work& work) {
    if (const core::Pack* const pack = values(work, core::PackPhase::kRead))
      versions_.read(work.place.group, pack->payload.members.front().variable);
  }
  /// The pack is complete at the root, which holds the variable: a gradient is applied now.
  void complete_at_root(const Work& work) {
    if (const core::Pack* const pack = values(work, core::PackPhase::kGradients))
      versions_.applied(work.place.group, pack->payload.members.front().variable);
  }
  /// A replica has ended a step. To be called in order of time.
  void step_ended(std::int64_t replica, std::int32_t step, core::Time now) {
    const core::Partition::Place place = plan_.partition->place(replica);
    if (place.rank != 0) return;
    if (!search_) return paces_.step_ended(place.group, step, steps_, now);
    paces_.step_ended(place.group, step, std::numeric_limits<std::int32_t>::max(), now);
    if (!search_->step_ended(now)) return;
    // Steps that are requested beyond this point change no reported value.
    paces_.close();
    behind_ = versions_.behind();
  }
  /// Determines whether the replica begins the step. Until the steady state is known, workers that
  /// have made all steps of the scenario go on, so that the others do not have the servers to
  /// themselves; all replicas of a worker begin what one of them has begun.
  bool begins(std::int64_t replica, std::int32_t step) {
    std::int32_t& begun = begun_[static_cast<std::size_t>(plan_.partition->place(replica).group)];
    if (step < steps_ || (search_ && !search_->state())) begun = std::max(begun, step);
    return step <= begun;
  }
  /// Nothing if the run was stopped before it was known, or does not look for it.
  [[nodiscard]] const core::SteadyState* steady() const {
    return search_ && search_->state() ? &*search_->state() : nullptr;
  }
  [[nodiscard]] std::string describe() const {
    return paces_.describe(behind_ ? *behind_ : versions_.behind(), search_.has_value());
  }

 private:
  static constexpr double kMaxRounds = 512;
  static constexpr double kMaxWork = 5e6;  // schedule steps; some seconds

  /// The pack, if it carries values in that phase.
  [[nodiscard]] const core::Pack* values(const Work& work, core::PackPhase phase) const {
    if (work.pack < 0) return nullptr;
    const core::Pack& pack = plan_.packs[static_cast<std::size_t>(work.pack)];
    return pack.phase == phase && pack.payload.content == core::PackContent::kValues ? &pack
                                                                                     : nullptr;
  }

  const core::Plan& plan_;
  std::int32_t steps_;
  core::Versions versions_;
  core::AsyncServersList paces_;
  std::vector<std::int32_t> begun_;  ///< by worker: the last step that it began
  std::optional<core::SteadyStateSearch> search_;
  std::optional<core::UpdatesBehind> behind_;  ///< Versions::behind() when the search ended
};

}  // namespace tutti::sim
