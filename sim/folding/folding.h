#pragma once

// Folding: in a symmetric scenario, all workers do the same at the same times, so it is sufficient
// to simulate one worker on behalf of all (docs/scale.md, decision 23). A scenario is symmetric if
// all workers are of one kind, no condition (such as a slow device) affects only some workers,
// every switch looks the same to all workers, and every collective is the same on all workers
// (Schedule::same_everywhere). The order in which simultaneous messages are served may break the
// symmetry during the run. Class Ties detects this, and the run is then repeated with all workers.

#include <memory>
#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

struct Folding {
  /// The folded scenario, which has one worker; null if the original scenario is not symmetric. The
  /// folded scenario does not refer to the original one.
  std::shared_ptr<const core::Scenario> scenario;
  std::string why_not;  ///< if `scenario` is null, the reason
};

/// Folds a scenario. Cost: as much as building a plan; the cost does not depend on the number of
/// workers.
Folding fold(const core::Scenario& scenario);

}  // namespace tutti::sim
