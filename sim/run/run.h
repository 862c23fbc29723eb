#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

struct RunEnd {
  core::Expected<void> ran;
  bool came_apart =
      false;  ///< it turned out that one worker cannot stand for all: what the sink received is worth nothing
};

/// Replays `scenario` in virtual time: runners of replicas, their collectives, the network and the devices, from event to
/// event. `remember`: training steps that repeat the one before are reported without simulating them (sim/run/repetition.h), if
/// nothing else is recorded.
/// `told`: what the timeline is of; the same scenario, or that of which this one is folded (sim/folding/folding.h).
RunEnd run(const core::Scenario& scenario, const core::Scenario& told, const core::RecordOptions& record, bool remember,
           const core::RunControl& control, core::TimelineSink& sink);

/// Steps of all lanes of all packs of all training steps, taking the first replica for every replica and the last helper
/// for every helper.
double steps_of(const core::Scenario& scenario);

}  // namespace tutti::sim
