#pragma once

#include <cstdint>
#include <string>

#include "core/lowering/staleness.h"
#include "core/scenario/scenario.h"
#include "sim/collectives/plan_collectives.h"

namespace tutti::sim {

/// Observes asynchronous workers: how stale their gradients are, and how many steps they complete
/// together.
class Asynchrony {
 public:
  /// REQUIRES: the scenario outlives it; its workers are asynchronous.
  explicit Asynchrony(const core::Scenario& scenario)
      : plan_(scenario.plan),
        steps_(scenario.run.steps),
        versions_(scenario.plan.partition->groups(), scenario.workload.gradients.size()),
        paces_(scenario.plan.partition->groups()) {}

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
    if (place.rank == 0) paces_.step_ended(place.group, step, steps_, now);
  }
  [[nodiscard]] std::string describe() const { return paces_.describe(versions_.behind()); }

 private:
  /// Returns the pack if it carries values in that phase; otherwise null.
  [[nodiscard]] const core::Pack* values(const Work& work, core::PackPhase phase) const {
    if (work.pack < 0) return nullptr;
    const core::Pack& pack = plan_.packs[static_cast<std::size_t>(work.pack)];
    return pack.phase == phase && pack.payload.content == core::PackContent::kValues ? &pack : nullptr;
  }

  const core::Plan& plan_;
  std::int32_t steps_;
  core::Versions versions_;
  core::OwnPaces paces_;
};

}  // namespace tutti::sim
