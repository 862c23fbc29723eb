#pragma once

#include <cstdint>
#include <string>

#include "core/lowering/staleness.h"
#include "core/scenario/scenario.h"
#include "sim/collectives/plan_collectives.h"

namespace tutti::sim {

/// Observes workers that do not wait for each other: how stale their gradients are, and how many steps they make together.
class Asynchrony {
 public:
  /// REQUIRES: the scenario outlives it; its workers are asynchronous.
  explicit Asynchrony(const core::Scenario& scenario)
      : plan_(scenario.plan),
        steps_(scenario.run.steps),
        versions_(scenario.plan.partition->groups(), scenario.workload.gradients.size()),
        paces_(scenario.plan.partition->groups()) {}

  /// A worker starts with the pack; the variable's values that it reads are those of now.
  void opened(const Work& work) {
    if (const core::Pack* const pack = values(work, core::PackPhase::kRead))
      versions_.read(work.place.group, pack->payload.members.front().variable);
  }
  /// The pack is complete where its variable lies: a gradient is applied now.
  void complete_at_root(const Work& work) {
    if (const core::Pack* const pack = values(work, core::PackPhase::kGradients))
      versions_.applied(work.place.group, pack->payload.members.front().variable);
  }
  /// A replica has ended a step. In the order of time.
  void step_ended(std::int64_t replica, std::int32_t step, core::Time now) {
    const core::Partition::Place place = plan_.partition->place(replica);
    if (place.rank == 0) paces_.step_ended(place.group, step, steps_, now);
  }
  [[nodiscard]] std::string describe() const { return paces_.describe(versions_.behind()); }

 private:
  /// The pack, if it carries values in that phase.
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
