#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

struct RunEnd {
  core::Expected<void> ran;
  /// True: one worker cannot represent all, so the contents of the sink are invalid.
  bool symmetry_broken = false;
};

/// Simulates `scenario` in virtual time, event by event: the runners of replicas, their
/// collectives, the network and the devices. `told` is the scenario of the timeline: the same
/// scenario, or the one that `scenario` is folded from (sim/folding/folding.h). `remember`:
/// training steps that repeat the previous step are recorded without being simulated
/// (sim/run/repetition.h), if only steps and packs are recorded.
RunEnd run(const core::Scenario& scenario, const core::Scenario& told,
           const core::RecordOptions& record, bool remember, const core::RunControl& control,
           core::TimelineSink& sink);

/// Estimates the number of schedule steps over all lanes, packs and training steps. Assumes that
/// every replica has as many as the first one, and every helper as many as the last one.
double steps_of(const core::Scenario& scenario);

}  // namespace tutti::sim
