#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

struct RunEnd {
  core::Expected<void> ran;
  /// True if one simulated worker cannot represent all workers. If this is true, the contents of
  /// the sink are invalid.
  bool symmetry_broken = false;
};

/// Simulates `scenario` in virtual time, event by event: the runners of replicas, their
/// collectives, the network and the devices. `timeline_scenario` is the scenario that the timeline
/// describes: either `scenario` itself, or the scenario from which `scenario` was folded
/// (sim/folding/folding.h). If `remember` is true and the timeline has only steps and packs,
/// training steps that repeat the previous step are recorded without being simulated
/// (sim/run/repetition.h).
RunEnd run(const core::Scenario& scenario, const core::Scenario& timeline_scenario,
           const core::RecordOptions& record, bool remember, const core::RunControl& control,
           core::TimelineSink& sink);

/// Estimates the number of schedule steps over all lanes, packs and training steps. The estimate
/// assumes that every replica has as many steps as the first replica, and that every helper has as
/// many steps as the last helper.
double steps_of(const core::Scenario& scenario);

}  // namespace tutti::sim
