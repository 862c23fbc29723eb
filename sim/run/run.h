#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

struct RunEnd {
  core::Expected<void> ran;
  /// True if the run has shown that one simulated worker cannot represent all workers. The contents
  /// of the sink are then invalid.
  bool symmetry_broken = false;
};

/// Simulates `scenario` in virtual time, event by event: the tasks of replicas, their collectives,
/// the network and the devices. `timeline_scenario` is the scenario that the timeline describes.
/// `timeline_scenario` is `scenario` itself or, for a folded run, the original scenario
/// (sim/folding/folding.h). If `remember` is true and the timeline has only steps and packs,
/// training steps that are identical to the previous step are recorded without being simulated
/// (sim/run/repetition.h).
RunEnd run(const core::Scenario& scenario, const core::Scenario& timeline_scenario,
           const core::RecordOptions& record, bool remember, const core::RunControl& control,
           core::TimelineSink& sink);

/// Estimates the number of schedule steps over all lanes, packs and training steps. Assumes that
/// all replicas have as many steps as the first replica, and all helpers (servers and hosts) as
/// many as the last helper.
double steps_of(const core::Scenario& scenario);

}  // namespace tutti::sim
