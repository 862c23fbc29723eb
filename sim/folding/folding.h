#pragma once

// Folding: in a symmetric scenario all workers do the same at the same times, so one of them is
// simulated on behalf of all (docs/scale.md, decision 23). A scenario is symmetric if all workers
// are of one kind, no condition affects only some of them, every switch looks the same to all, and
// every collective is the same everywhere (Schedule::same_everywhere). The order in which
// simultaneous messages are served may still break the symmetry. That is watched (ties.h): if the
// order matters, the run is repeated with all workers.

#include <memory>
#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

struct Folding {
  /// One worker and its work. Null: the scenario is not symmetric. Does not refer to the original
  /// scenario.
  std::shared_ptr<const core::Scenario> scenario;
  std::string why_not;  ///< the reason why `scenario` is null
};

/// Cost: that of a plan, independent of the number of workers.
Folding fold(const core::Scenario& scenario);

}  // namespace tutti::sim
