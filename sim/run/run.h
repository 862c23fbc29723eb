#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

struct RunEnd {
  core::Expected<void> ran;
  bool symmetry_broken =
      false;  ///< true: one worker cannot represent all, so the contents of the sink are invalid
};

/// Replays `scenario` in virtual time: runners of replicas, their collectives, the network and the
/// devices, from event to event. `remember`: training steps that repeat the one before are recorded
/// without simulating them (sim/run/repetition.h), if nothing else is recorded.
/// `told` is the scenario of the timeline: the same, or the one that this one is folded from
/// (sim/folding/folding.h).
RunEnd run(const core::Scenario& scenario, const core::Scenario& told,
           const core::RecordOptions& record, bool remember, const core::RunControl& control,
           core::TimelineSink& sink);

/// Returns the number of steps of all lanes of all packs of all training steps, using the first
/// replica for every replica and the last helper for every helper.
double steps_of(const core::Scenario& scenario);

}  // namespace tutti::sim
