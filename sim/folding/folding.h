#pragma once

// Folding: in a symmetric scenario all workers do the same at the same times, so one worker is
// simulated on behalf of all workers (docs/scale.md, decision 23). A scenario is symmetric if it
// fulfils four conditions: all workers are of one kind, no condition affects only some workers,
// every switch looks the same to all workers, and every collective is the same on all workers
// (Schedule::same_everywhere). The order in which simultaneous messages are served may still break
// the symmetry. Class Ties detects a broken symmetry, and the run is then repeated with all
// workers.

#include <memory>
#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

struct Folding {
  /// A scenario with one worker and this worker's work; null if the original scenario is not
  /// symmetric. The new scenario has no pointers into the original scenario.
  std::shared_ptr<const core::Scenario> scenario;
  std::string why_not;  ///< the reason why `scenario` is null
};

/// Folds a scenario. Cost: the cost of building a plan, which does not depend on the number of
/// workers.
Folding fold(const core::Scenario& scenario);

}  // namespace tutti::sim
